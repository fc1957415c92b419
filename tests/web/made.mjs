// Frames that no device has sent, and captures of them.
// A frame of RoCE v2 with that opcode and those bytes behind BTH, from a client to its server; or back.
export function frame(opcode, rest, {psn = 0x010203, qp = 17, server = 1, back = false} = {}) {
	const bytes = new Uint8Array(14 + 20 + 8 + 12 + rest.length + 4), view = new DataView(bytes.buffer);
	view.setUint16(12, 0x0800);
	bytes.set([0x45, 0], 14);
	view.setUint16(16, bytes.length - 14);
	const ends = [[192, 0, 2, 200], [192, 0, 2, server]];
	bytes.set([64, 17, 0, 0, ...(back ? ends.reverse() : ends).flat()], 22);
	view.setUint16(34, 49152);
	view.setUint16(36, 4791);
	view.setUint16(38, bytes.length - 34);
	bytes.set([opcode, 0, 255, 255, 0, 0, 0, qp, 0, psn >> 16, psn >> 8 & 255, psn & 255, ...rest], 42);
	return bytes;
}

// A capture of frames.
export function pcap(frames, {little = true, nano = false} = {}) {
	const out = new Uint8Array(24 + frames.reduce((sum, x) => sum + 16 + x.length, 0)), view = new DataView(out.buffer);
	view.setUint32(0, nano ? 0xa1b23c4d : 0xa1b2c3d4, little);
	view.setUint16(4, 2, little);
	view.setUint16(6, 4, little);
	view.setUint32(16, 65535, little);
	view.setUint32(20, 1, little);
	let at = 24;
	for (const bytes of frames) {
		[1_700_000_000, 5e5 * (nano ? 1000 : 1), bytes.length, bytes.length].forEach((x, i) => view.setUint32(at + 4 * i, x, little));
		out.set(bytes, at + 16);
		at += 16 + bytes.length;
	}
	return out;
}

// RETH: address, key, length; and what a request of READ or WRITE has behind BTH.
export const reth = (va, rkey, length) => [0, 0, 0, 0, 0, 0, va >> 8, va & 255, 0, 0, 0, rkey, 0, 0, length >> 8, length & 255];
