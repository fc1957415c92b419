// One emulated machine in a thread of its own. What it says goes to the page, what
// the page says goes to it; while it is frozen, no time passes in it.
import {Clock} from './clock.js';
import {machineOptions} from './machine_options.js';
import {Card, RECEIVED} from './card.js';

const PORTS = [0, 1, 2];
// More at once than the guest takes at once would wait for the byte after them.
const CHUNK = 64, CHUNK_MS = 20;

// How far a node's clock may be ahead of the other's, and how often they tell. A
// browser may leave a thread alone for a second, and a queue pair gives up when an
// acknowledgement is half a second late: so the one that is ahead waits.
const AHEAD_MS = 25, TELL_MS = 10;

// v86 compiles the guest's code to WebAssembly, of up to three pages at a time. Of so
// much at once the browser's own compiler makes code for seconds, and takes 100 MB:
// the setting with this number says how many.
const MAX_PAGES = 1;

// started: it runs, or has run; frozen: the page wants it so; ahead: the other node
// must catch up first.
let emulator = null, started = false, frozen = false, ahead = false;
const clock = new Clock(performance.now.bind(performance), () => {
	// The clock is read while the picture is loaded, too. Who was ahead by then
	// would be told to run before it can.
	if (started && !ahead) {
		ahead = true;
		emulator.stop();
	}
});
performance.now = () => clock.tick();
// Only now, since v86 keeps the function that it finds.
const {V86} = await import('../libraries/libv86.mjs');

const card = new Card(() => emulator.v86.cpu.devices.net,
	frame => emulator.bus.send('net0-receive', frame),
	() => emulator.v86.cpu.devices.net.do_interrupt(RECEIVED));
const said = PORTS.map(() => []);

// Lines and packets keep their order: what was said before a packet goes first.
function flush() {
	for (const port of PORTS)
		if (said[port].length) {
			postMessage({type: 'serial', port, bytes: Uint8Array.from(said[port])});
			said[port] = [];
		}
}

let flushing = false;
function hear(port, byte) {
	said[port].push(byte);
	if (!flushing) {
		flushing = true;
		setTimeout(() => {
			flushing = false;
			flush();
		}, 2);
	}
}

// A machine with nothing in it. No time passes before it runs: the timers of what it
// will be are due at times of the clock that the picture was taken by.
function create({time}) {
	clock.stop();
	clock.set(time, time + AHEAD_MS);
	emulator = new V86({...machineOptions, autostart: false,
		wasm_path: new URL('../libraries/v86.wasm', import.meta.url).href});
	for (const port of PORTS)
		emulator.add_listener(`serial${port}-output-byte`, byte => hear(port, byte));
	emulator.add_listener('net0-send', frame => {
		flush();
		postMessage({type: 'frame', bytes: new Uint8Array(frame)});
	});
	emulator.add_listener('emulator-started', () => {
		started = true;
		postMessage({type: 'started'});
	});
	emulator.add_listener('emulator-loaded', () => {
		emulator.v86.cpu.set_jit_config(MAX_PAGES, 1);
		postMessage({type: 'created'});
	});
}

const giveBack = bytes => postMessage({type: 'taken', bytes}, [bytes.buffer]);

const orders = {
	create,
	restore: async ({bytes}) => {
		await emulator.restore_state(bytes.buffer);
		giveBack(bytes);
	},
	fill: ({bytes, at}) => {
		emulator.write_memory(bytes, at);
		giveBack(bytes);
	},
	start: async () => {
		setInterval(() => postMessage({type: 'time', time: clock.now()}), TELL_MS);
		clock.go();
		await emulator.run();
	},
	serial: async ({port, bytes}) => {
		for (let at = 0; at < bytes.length; at += CHUNK) {
			if (at)
				await new Promise(resolve => setTimeout(resolve, CHUNK_MS));
			emulator.serial_send_bytes(port, bytes.subarray(at, at + CHUNK));
		}
	},
	frame: ({bytes}) => card.receive(bytes),
	put: async ({name, bytes, id}) => {
		await emulator.create_file(`/${name}`, bytes);
		postMessage({type: 'done', id});
	},
	freeze: async () => {
		frozen = true;
		clock.stop();
		await emulator.stop();
	},
	thaw: async () => {
		frozen = ahead = false;
		clock.go();
		await emulator.run();
	},
};

// One after another: a freeze must not overtake the thaw before it.
let last = Promise.resolve();
self.onmessage = ({data}) => {
	if (data.type === 'limit') {
		clock.raise(data.time + AHEAD_MS);
		if (ahead && !frozen && clock.now() < clock.limit) {
			ahead = false;
			emulator.run();
		}
		return;
	}
	last = last.then(() => orders[data.type](data)).catch(error =>
		postMessage({type: 'trouble', text: String(error?.stack ?? error)}));
};
postMessage({type: 'loaded'});
