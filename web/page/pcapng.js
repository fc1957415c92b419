// A capture, as a file: https://www.ietf.org/archive/id/draft-ietf-opsawg-pcapng-02.html

const SECTION = 0x0a0d0d0a, INTERFACE = 1, PACKET = 6;
const ETHERNET = 1;
const padded = size => size + 3 & ~3;

function block(type, body) {
	const size = 12 + padded(body.length), out = new Uint8Array(size);
	const view = new DataView(out.buffer);

	view.setUint32(0, type, true);
	view.setUint32(4, size, true);
	out.set(body, 8);
	view.setUint32(size - 4, size, true);
	return out;
}

function words(...values) {
	return new Uint8Array(new Uint32Array(values).buffer);
}

// frames: [{time, bytes}], time in milliseconds since 1970.
export function writePcapng(frames) {
	const parts = [
		block(SECTION, words(0x1a2b3c4d, 1, 0xffffffff, 0xffffffff)),
		block(INTERFACE, words(ETHERNET, 0)),
	];

	for (const {time, bytes} of frames) {
		const micros = BigInt(Math.round(time * 1000));
		const head = words(0, Number(micros >> 32n), Number(micros & 0xffffffffn),
			bytes.length, bytes.length);
		const body = new Uint8Array(head.length + bytes.length);
		body.set(head);
		body.set(bytes, head.length);
		parts.push(block(PACKET, body));
	}
	const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
	let at = 0;
	for (const part of parts) {
		out.set(part, at);
		at += part.length;
	}
	return out;
}
