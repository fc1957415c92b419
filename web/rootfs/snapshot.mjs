// snapshot.mjs - boots the node once, and keeps its memory
//
// usage: node snapshot.mjs V86_BUILD_DIR BZIMAGE INITRD OUT
//
// The page starts both nodes from this picture, which takes a second instead of
// the ten of a boot. It is taken when the node's init says that it is ready.
//
// OUT is the machine with its memory all zero, as v86 saves it, and then the memory
// as it was: the page brings that in piece by piece, and v86 would want it at once.
import {readFileSync, writeFileSync} from 'node:fs';
import {pathToFileURL} from 'node:url';
import {machineOptions} from '../page/machine_options.js';

const [build, bzimage, initrd, out] = process.argv.slice(2);
const {V86} = await import(pathToFileURL(`${build}/libv86.mjs`));

// A file as the ArrayBuffer that v86 wants.
function buffer(path) {
	const bytes = readFileSync(path);

	return {buffer: bytes.buffer.slice(
		bytes.byteOffset, bytes.byteOffset + bytes.length)};
}

const started = Date.now();
const emulator = new V86({
	...machineOptions,
	wasm_path: `${build}/v86.wasm`,
	bios: buffer('/usr/share/seabios/bios.bin'),
	bzimage: buffer(bzimage),
	initrd: buffer(initrd),
	cmdline: 'console=ttyS0 quiet panic=-1 tsc=reliable mitigations=off ' +
		'random.trust_cpu=on init_on_free=1 rdinit=/init',
});

let console_text = '', answer = '';
emulator.add_listener('serial0-output-byte', byte => {
	console_text += String.fromCharCode(byte);
});
const deadline = setTimeout(() => {
	console.error(`snapshot: not ready within 10 minutes:\n${console_text}`);
	process.exit(1);
}, 600_000);
emulator.add_listener('serial1-output-byte', async byte => {
	answer += String.fromCharCode(byte);
	if (!answer.endsWith('ready\n'))
		return;
	answer = '';
	clearTimeout(deadline);
	await emulator.stop();
	const memory = emulator.read_memory(0, machineOptions.memory_size).slice();
	emulator.write_memory(new Uint8Array(memory.length), 0);
	const machine = new Uint8Array(await emulator.save_state());
	writeFileSync(out, Buffer.concat([machine, memory]));
	// Its timers are due at times of this clock.
	writeFileSync(`${out}.json`, JSON.stringify({time: performance.now(), machine: machine.length}));
	console.log(`snapshot: ready after ${Date.now() - started} ms, ` +
		`${machine.length} bytes and the memory; the console said:\n${console_text}`);
	process.exitCode = 0;
	emulator.destroy();
});
