// Captures that anybody may have made, pcap and pcapng, in either byte order: the frames
// in them, as Ethernet. Nothing here trusts a length: a file that is cut off or wrong
// gives what stands before the fault, and `trouble` says what that is.

const PCAP = new Map([[0xa1b2c3d4, 1e3], [0xa1b23c4d, 1e6]]);
const SECTION = 0x0a0d0d0a, ORDER = 0x1a2b3c4d;
const INTERFACE = 1, OLD_PACKET = 2, SIMPLE = 3, PACKET = 6;
const ETHERNET = 1, RAW = 101, LINUX = 113, LINUX2 = 276;
const VLAN = [0x8100, 0x88a8];

const ethernet = (type, payload) => {
	const out = new Uint8Array(14 + payload.length);
	out[12] = type >> 8;
	out[13] = type & 255;
	out.set(payload, 14);
	return out;
};

// A frame as Ethernet, without tags; null if its kind is not known.
export function asEthernet(link, bytes) {
	switch (link) {
	case ETHERNET: {
		let skip = 0;
		while (VLAN.includes(bytes[12 + skip] << 8 | bytes[13 + skip]) && bytes.length > 18 + skip)
			skip += 4;
		return skip ? ethernet(bytes[12 + skip] << 8 | bytes[13 + skip], bytes.subarray(14 + skip)) : bytes;
	}
	case RAW: case 12: case 14:
		return ethernet(bytes[0] >> 4 === 6 ? 0x86dd : 0x0800, bytes);
	case LINUX:
		return ethernet(bytes[14] << 8 | bytes[15], bytes.subarray(16));
	case LINUX2:
		return ethernet(bytes[0] << 8 | bytes[1], bytes.subarray(20));
	default:
		return null;
	}
}

// The frames of a file, one after another: {time, bytes, cut}; time in milliseconds,
// cut: how many bytes of it the capture has not kept. Throws a RangeError where the
// file is wrong.
export function* framesOf(data) {
	const view = new DataView(data.buffer, data.byteOffset, data.length);
	if (data.length < 24)
		throw new RangeError('the file is too short to be a capture');
	if (view.getUint32(0, true) === SECTION)
		yield* pcapng(data, view);
	else
		yield* pcap(data, view);
}

function* pcap(data, view) {
	const little = PCAP.has(view.getUint32(0, true));
	const scale = PCAP.get(view.getUint32(0, little));
	if (!scale)
		throw new RangeError('it is neither pcap nor pcapng, by its first four bytes');
	// The upper bits say whether frames end with a checksum.
	const link = view.getUint32(20, little) & 0x0fffffff;
	for (let at = 24; at < data.length;) {
		if (at + 16 > data.length)
			throw new RangeError(`it ends within the header of a packet, at byte ${at}`);
		const size = view.getUint32(at + 8, little), whole = view.getUint32(at + 12, little);
		if (at + 16 + size > data.length)
			throw new RangeError(`it says that a packet has ${size} bytes, at byte ${at}`);
		yield {time: view.getUint32(at, little) * 1e3 + view.getUint32(at + 4, little) / scale,
			cut: Math.max(0, whole - size),
			bytes: asEthernet(link, data.subarray(at + 16, at + 16 + size))};
		at += 16 + size;
	}
}

// Milliseconds for a unit of an interface's clock: microseconds, if it does not say.
function resolution(view, at, end, little) {
	for (; at + 4 <= end;) {
		const code = view.getUint16(at, little), size = view.getUint16(at + 2, little);
		if (code === 9 && size >= 1 && at + 4 < end) {
			const value = view.getUint8(at + 4);
			return 1e3 * (value & 128 ? 2 ** -(value & 127) : 10 ** -value);
		}
		if (!code)
			break;
		at += 4 + (size + 3 & ~3);
	}
	return 1e-3;
}

function* pcapng(data, view) {
	let little = true, links = [];
	for (let at = 0; at < data.length;) {
		if (at + 12 > data.length)
			throw new RangeError(`it ends within a block, at byte ${at}`);
		const type = view.getUint32(at, little);
		if (type === SECTION) {
			little = view.getUint32(at + 8, true) === ORDER;
			if (view.getUint32(at + 8, little) !== ORDER)
				throw new RangeError(`a section without a byte order, at byte ${at}`);
			links = [];
		}
		const size = view.getUint32(at + 4, little), end = at + size;
		if (size < 12 || size & 3 || end > data.length)
			throw new RangeError(`a block of ${size} bytes, at byte ${at}`);
		if (type === INTERFACE && size >= 20)
			links.push({link: view.getUint16(at + 8, little),
				unit: resolution(view, at + 16, end - 4, little)});
		else if (type === PACKET || type === OLD_PACKET || type === SIMPLE)
			yield packet(data, view, {type, at, end, little, links});
		at = end;
	}
}

function packet(data, view, {type, at, end, little, links}) {
	const simple = type === SIMPLE, head = simple ? 12 : 28;
	if (at + head + 4 > end)
		throw new RangeError(`a packet without a header, at byte ${at}`);
	const number = simple ? 0 : type === PACKET ? view.getUint32(at + 8, little) :
		view.getUint16(at + 8, little);
	const whole = view.getUint32(at + head - 4, little);
	const size = simple ? Math.min(whole, end - 4 - at - head) : view.getUint32(at + 20, little);
	if (size > end - 4 - at - head)
		throw new RangeError(`it says that a packet has ${size} bytes, at byte ${at}`);
	const {link, unit} = links[number] ?? {link: -1, unit: 1e-3};
	return {time: simple ? 0 : (view.getUint32(at + 12, little) * 2 ** 32 +
		view.getUint32(at + 16, little)) * unit, cut: Math.max(0, whole - size),
	bytes: asEthernet(link, data.subarray(at + head, at + head + size))};
}
