// The picture of a machine from which both nodes start: rootfs/snapshot.mjs takes it.
// Unpacked, it is as large as their memory, so it never is anywhere as a whole. One
// piece after another is unpacked and goes from node to node and back: handed over,
// and not copied.
import {machineOptions} from './machine_options.js';

const PIECE = 4 * 1024 * 1024;

export class Picture {
	constructor(address) {
		this.address = address.href;
		this.worker = new Worker(new URL('./unpack_worker.js', import.meta.url),
			{type: 'module', name: 'the picture'});
	}

	ask(order, lent = []) {
		return new Promise((resolve, reject) => {
			this.worker.onmessage = ({data}) =>
				data.trouble ? reject(new Error(data.trouble)) : resolve(data);
			this.worker.onerror = event =>
				reject(new Error(event.message || 'the picture could not be unpacked'));
			this.worker.postMessage(order, lent);
		});
	}

	async open() {
		try {
			return await this.ask({type: 'open', address: this.address});
		} catch (error) {
			this.worker.terminate();
			throw error;
		}
	}

	async read(bytes) {
		return (await this.ask({type: 'read', bytes}, [bytes.buffer])).bytes;
	}

	// machine: how many bytes of it are the machine without its memory. Whatever
	// comes of it, the worker ends, and what it holds with it.
	async bring(nodes, machine) {
		try {
			let bytes = await this.read(new Uint8Array(machine));
			for (const node of nodes)
				bytes = await node.restore(bytes);
			bytes = new Uint8Array(PIECE);
			for (let at = 0; at < machineOptions.memory_size; at += PIECE) {
				bytes = await this.read(bytes);
				for (const node of nodes)
					bytes = await node.fill(bytes, at);
			}
		} finally {
			this.worker.terminate();
		}
	}
}
