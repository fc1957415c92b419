// A node as the page has it: its terminal, a way to run commands on it, files that
// go in, and what its programs say.

import {nodeUp} from './node_up.js';

const encoder = new TextEncoder();
const hexDigits = bytes => [...bytes].map(x => x.toString(16).padStart(2, '0')).join('');
export const quote = text => `'${text.replaceAll("'", "'\\''")}'`;

export class Node extends EventTarget {
	// Events: `terminal` (bytes), `frame` (bytes), `said` ({label, kind, text}),
	// `asked` (the same, and an answer is due: comparer.js).
	constructor(name, worker) {
		super();
		Object.assign(this, {name, worker, answer: '', line: '', pending: [],
			queue: Promise.resolve(), puts: new Map(), commands: 0, trouble: null,
			size: [24, 80]});
		this.decoders = [0, 1, 2].map(() => new TextDecoder());
		this.loaded = this.message('loaded');
		worker.addEventListener('message', ({data}) => this.take(data));
		worker.addEventListener('error', event =>
			this.fail(event.message || 'its script could not be loaded'));
	}

	message(type) {
		return new Promise(resolve => {
			const listen = ({data}) => {
				if (data.type !== type)
					return;
				this.worker.removeEventListener('message', listen);
				resolve(data);
			};
			this.worker.addEventListener('message', listen);
		});
	}

	emit(type, detail) {
		this.dispatchEvent(new CustomEvent(type, {detail}));
	}

	fail(text) {
		this.trouble = text;
		this.emit('trouble', `node ${this.name}: ${text}`);
	}

	take(data) {
		switch (data.type) {
		case 'frame':
			this.emit('frame', data.bytes);
			break;
		case 'time':
			this.emit('time', data.time);
			break;
		case 'serial':
			this.hear(data.port, data.bytes);
			break;
		case 'done':
			this.puts.get(data.id)();
			this.puts.delete(data.id);
			break;
		case 'trouble':
			this.fail(data.text);
			break;
		}
	}

	hear(port, bytes) {
		if (port === 0)
			this.emit('terminal', bytes);
		else if (port === 1)
			this.hearAnswer(this.decoders[1].decode(bytes, {stream: true}));
		else
			this.hearLines(this.decoders[2].decode(bytes, {stream: true}));
	}

	hearAnswer(text) {
		this.answer += text;
		const end = /\x01(\d+)\n/.exec(this.answer);
		if (!end || !this.pending.length)
			return;
		const out = this.answer.slice(0, end.index);
		this.answer = this.answer.slice(end.index + end[0].length);
		this.pending.shift()({status: Number(end[1]), out});
	}

	hearLines(text) {
		const lines = (this.line + text).split('\n');
		this.line = lines.pop();
		for (const line of lines) {
			const [, label, kind, said] = /^(\S+) ([oexq]) ([^]*)$/.exec(line) ?? [];
			if (label)
				this.emit(kind === 'q' ? 'asked' : 'said', {node: this.name, label, kind, text: said});
		}
	}

	// What its worker answers to an order; bytes are lent to it, and come back.
	async order(order, answer, lent = []) {
		await this.loaded;
		const answered = this.message(answer);
		this.worker.postMessage(order, lent);
		return answered;
	}

	// A machine with nothing in it, whose clock shows that time. It does not run yet.
	create(time) {
		return this.order({type: 'create', time}, 'created');
	}

	// What the machine is, but for its memory, which is zero; then a piece of that.
	async restore(bytes) {
		return (await this.order({type: 'restore', bytes}, 'taken', [bytes.buffer])).bytes;
	}

	async fill(bytes, at) {
		return (await this.order({type: 'fill', bytes, at}, 'taken', [bytes.buffer])).bytes;
	}

	async start(number) {
		await this.order({type: 'start'}, 'started');
		const seed = hexDigits(crypto.getRandomValues(new Uint8Array(32)));
		const {status, out} = await this.exec(
			nodeUp(number, Math.floor(Date.now() / 1000), seed));
		if (status)
			throw new Error(`node ${this.name} did not come up: ${out}`);
		this.up = true;
		this.emit('up');
	}

	serial(port, text) {
		this.worker.postMessage({type: 'serial', port, bytes: encoder.encode(text)});
	}

	type(text) {
		this.serial(0, text);
	}

	// Runs lines of shell, after those before them: {status, out}. They go in as a
	// file: a serial port of v86 that is given more than 256 bytes at a time keeps
	// the rest to itself until the next byte comes.
	exec(command) {
		const done = this.queue.then(async () => {
			const name = `command-${++this.commands}`;
			await this.put(name, encoder.encode(`${command}\n`));
			return new Promise(resolve => {
				this.pending.push(resolve);
				this.serial(1, `(. /page/${name}) </dev/null 2>&1; printf '\\001%d\\n' $?\n`);
			});
		});
		this.queue = done;
		return done;
	}

	// A file of the page as /page/NAME on the node.
	put(name, bytes) {
		const id = crypto.randomUUID();
		return new Promise(resolve => {
			this.puts.set(id, resolve);
			this.worker.postMessage({type: 'put', name, bytes, id});
		});
	}

	async write(path, text) {
		const name = `put-${crypto.randomUUID()}`;
		await this.put(name, encoder.encode(text));
		return this.exec(`mkdir -p "$(dirname ${quote(path)})" && cp /page/${name} ${
			quote(path)} && rm /page/${name}`);
	}

	stty(rows, columns) {
		return this.exec(`stty -F /dev/ttyS0 rows ${rows} cols ${columns}`);
	}

	resize(rows, columns) {
		this.size = [rows, columns];
		return this.stty(rows, columns);
	}

	// The shell writes its prompt again, with what was typed and waits for Enter. It
	// does so whenever its terminal gets another size. To press Enter here would be to
	// run what the reader, or the link that the reader has followed, has typed.
	async prompt() {
		const [rows, columns] = this.size;
		await this.stty(rows, columns + 1);
		await this.stty(...this.size);
	}

	// Its clock may not run away from the other node's, which says this.
	limit(time) {
		this.worker.postMessage({type: 'limit', time});
	}

	deliver(bytes) {
		this.worker.postMessage({type: 'frame', bytes});
	}

	freeze() {
		this.worker.postMessage({type: 'freeze'});
	}

	thaw() {
		this.worker.postMessage({type: 'thaw'});
	}
}

// Files below a folder of one node, as tar's arguments name them, to the same folder
// of another.
export async function copyFiles(from, to, folder, names) {
	const packed = await from.exec(`set -o pipefail; tar -C ${quote(folder)} -czf - ${names} | base64`);
	if (packed.status)
		throw new Error(`node ${from.name}: ${packed.out}`);
	await to.write('/tmp/files.base64', packed.out);
	const {status, out} = await to.exec(`base64 -d /tmp/files.base64 | tar -C ${quote(folder)} -xzf -`);
	if (status)
		throw new Error(`node ${to.name}: ${out}`);
}
