// A frame, taken apart: Ethernet, IPv4 or IPv6, UDP with RoCE v2, TCP. What stands
// where is in the IBTA specification, volume 1, chapter 9 (BTH, RETH, AETH), 12 and
// 13 (the messages of the connection manager), and annex A17 (RoCE v2).

export const ROCE_PORT = 4791;

// Fields are kept in the order of the bytes: [layer, name, at, size, text].
class Reader {
	constructor(bytes, fields) {
		this.bytes = bytes;
		this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
		this.fields = fields;
	}

	uint(at, size) {
		let value = 0;

		if (at + size > this.bytes.length)
			throw new RangeError('the frame is shorter than it says');
		for (let i = 0; i < size; i++)
			value = value * 256 + this.bytes[at + i];
		return value;
	}

	field(layer, name, at, size, text) {
		this.fields?.push({layer, name, at, size, text: String(text)});
	}

	number(layer, name, at, size, show = x => x) {
		const value = this.uint(at, size);

		if (this.fields)
			this.field(layer, name, at, size, show(value));
		return value;
	}
}

export const hex = (value, digits = 0) =>
	`0x${value.toString(16).padStart(digits, '0')}`;

function mac(bytes, at) {
	return [...bytes.subarray(at, at + 6)]
		.map(x => x.toString(16).padStart(2, '0')).join(':');
}

// The shortest way to write an IPv6 address: RFC 5952.
export function ipv6(bytes) {
	const words = [];
	for (let i = 0; i < 16; i += 2)
		words.push((bytes[i] << 8 | bytes[i + 1]).toString(16));
	if (words.slice(0, 5).every(x => x === '0') && words[5] === 'ffff')
		return `::ffff:${[...bytes.subarray(12, 16)].join('.')}`;
	const runs = [...words.join(':').matchAll(/(?:^|:)0(?::0)+(?=:|$)/g)];
	if (!runs.length)
		return words.join(':');
	const longest = runs.reduce((x, y) => y[0].length > x[0].length ? y : x);
	const all = words.join(':');
	return `${all.slice(0, longest.index)}::` +
		all.slice(longest.index + longest[0].length).replace(/^:/, '');
}

function readBth(reader, at, packet) {
	packet.opcode = reader.number('BTH', 'opcode', at, 1, hex);
	reader.number('BTH', 'solicited event, migration, padding, version', at + 1, 1, hex);
	packet.padding = reader.bytes[at + 1] >> 4 & 3;
	reader.number('BTH', 'partition key', at + 2, 2, x => hex(x, 4));
	packet.destqp = reader.number('BTH', 'destination QPN', at + 5, 3, x => hex(x, 6));
	packet.ackRequested = (reader.uint(at + 8, 1) & 0x80) !== 0;
	reader.field('BTH', 'acknowledge request', at + 8, 1, packet.ackRequested ? 'yes' : 'no');
	packet.psn = reader.number('BTH', 'PSN', at + 9, 3, x => hex(x, 6));
	return at + 12;
}

function readReth(reader, at, packet) {
	packet.va = reader.view.getBigUint64(at);
	reader.field('RETH', 'virtual address', at, 8, `0x${packet.va.toString(16)}`);
	packet.rkey = reader.number('RETH', 'rkey', at + 8, 4, hex);
	packet.dmalen = reader.number('RETH', 'length', at + 12, 4, x => `${x} bytes`);
	return at + 16;
}

function readAeth(reader, at, packet) {
	packet.syndrome = reader.number('AETH', 'syndrome', at, 1, hex);
	packet.msn = reader.number('AETH', 'MSN', at + 1, 3);
	return at + 4;
}

function readImmediate(reader, at, packet) {
	packet.immediate = reader.number('immediate', 'data', at, 4, hex);
	return at + 4;
}

function readAtomic(reader, at, packet) {
	packet.va = reader.view.getBigUint64(at);
	reader.field('AtomicETH', 'virtual address', at, 8, `0x${packet.va.toString(16)}`);
	packet.rkey = reader.number('AtomicETH', 'rkey', at + 8, 4, hex);
	packet.swap = reader.view.getBigUint64(at + 12);
	reader.field('AtomicETH', 'swap or add', at + 12, 8, `0x${packet.swap.toString(16)}`);
	packet.compare = reader.view.getBigUint64(at + 20);
	reader.field('AtomicETH', 'compare', at + 20, 8, `0x${packet.compare.toString(16)}`);
	return at + 28;
}

// CM messages: where the private fields of REQ and REP stand, after the header of
// the management datagram (24 bytes).
const REQ = 0x10, REJ = 0x12, REP = 0x13;

function readMad(reader, at, packet) {
	packet.transaction = reader.bytes.subarray(at + 8, at + 16).join('.');
	packet.cm = reader.number('MAD', 'attribute', at + 16, 2, x => hex(x, 4));
	reader.number('CM', 'local communication id', at + 24, 4, hex);
	if (packet.cm === REQ) {
		packet.responderResources = reader.number('CM', 'responder resources', at + 24 + 35, 1);
		packet.initiatorDepth = reader.number('CM', 'initiator depth', at + 24 + 39, 1);
		packet.startQpn = reader.number('CM', 'local QPN', at + 24 + 32, 3, x => hex(x, 6));
		packet.startPsn = reader.number('CM', 'starting PSN', at + 24 + 44, 3, x => hex(x, 6));
	} else if (packet.cm === REP) {
		packet.responderResources = reader.number('CM', 'responder resources', at + 24 + 24, 1);
		packet.initiatorDepth = reader.number('CM', 'initiator depth', at + 24 + 25, 1);
		packet.startQpn = reader.number('CM', 'local QPN', at + 24 + 12, 3, x => hex(x, 6));
		packet.startPsn = reader.number('CM', 'starting PSN', at + 24 + 20, 3, x => hex(x, 6));
	} else if (packet.cm === REJ) {
		packet.reason = reader.number('CM', 'reason', at + 24 + 10, 2);
	}
}

function readRoce(reader, at, end, packet) {
	packet.transport = 'roce';
	at = readBth(reader, at, packet);
	const operation = packet.opcode & 0x1f, type = packet.opcode >> 5;
	if (type === 3) {
		packet.qkey = reader.number('DETH', 'queue key', at, 4, hex);
		packet.srcqp = reader.number('DETH', 'source QPN', at + 5, 3, x => hex(x, 6));
		at += 8;
		if (operation === 5)
			at = readImmediate(reader, at, packet);
		if (packet.destqp === 1)
			readMad(reader, at, packet);
	} else if (type === 0) {
		if ([6, 10, 11, 12].includes(operation))
			at = readReth(reader, at, packet);
		if ([13, 15, 16, 17, 18].includes(operation))
			at = readAeth(reader, at, packet);
		if ([3, 5, 9, 11].includes(operation))
			at = readImmediate(reader, at, packet);
		if (operation === 18) {
			packet.original = reader.view.getBigUint64(at);
			reader.field('AtomicAckETH', 'original data', at, 8, `0x${packet.original.toString(16)}`);
			at += 8;
		}
		if (operation === 19 || operation === 20)
			at = readAtomic(reader, at, packet);
		if (operation === 22 || operation === 23) {
			packet.invalidated = reader.number('IETH', 'rkey', at, 4, hex);
			at += 4;
		}
	}
	packet.payload = reader.bytes.subarray(at, end - 4 - packet.padding);
	if (packet.payload.length)
		reader.field('payload', 'data', at, packet.payload.length,
			`${packet.payload.length} bytes`);
	reader.number('ICRC', 'invariant CRC', end - 4, 4, x => hex(x, 8));
}

function readTcp(reader, at, end, packet) {
	packet.transport = 'tcp';
	packet.sport = reader.number('TCP', 'source port', at, 2);
	packet.dport = reader.number('TCP', 'destination port', at + 2, 2);
	packet.seq = reader.number('TCP', 'sequence number', at + 4, 4);
	packet.ack = reader.number('TCP', 'acknowledged', at + 8, 4);
	packet.flags = reader.number('TCP', 'flags', at + 13, 1, hex);
	const start = at + (reader.uint(at + 12, 1) >> 4) * 4;
	packet.payload = reader.bytes.subarray(start, end);
	if (packet.payload.length)
		reader.field('payload', 'data', start, packet.payload.length,
			`${packet.payload.length} bytes`);
}

function readIp(reader, packet) {
	const bytes = reader.bytes, type = reader.uint(12, 2);
	let at, end, protocol;

	if (type === 0x0800) {
		at = 14 + (bytes[14] & 15) * 4;
		end = 14 + reader.number('IPv4', 'total length', 16, 2);
		protocol = reader.number('IPv4', 'protocol', 23, 1);
		packet.src = [...bytes.subarray(26, 30)].join('.');
		packet.dst = [...bytes.subarray(30, 34)].join('.');
		reader.field('IPv4', 'source', 26, 4, packet.src);
		reader.field('IPv4', 'destination', 30, 4, packet.dst);
	} else {
		at = 54;
		end = 54 + reader.number('IPv6', 'payload length', 18, 2);
		protocol = reader.number('IPv6', 'next header', 20, 1);
		packet.src = ipv6(bytes.subarray(22, 38));
		packet.dst = ipv6(bytes.subarray(38, 54));
		reader.field('IPv6', 'source', 22, 16, packet.src);
		reader.field('IPv6', 'destination', 38, 16, packet.dst);
	}
	if (end > bytes.length)
		throw new RangeError('the frame is shorter than it says');
	if (protocol === 17) {
		reader.number('UDP', 'source port', at, 2);
		const port = reader.number('UDP', 'destination port', at + 2, 2);
		reader.number('UDP', 'length', at + 4, 2);
		reader.number('UDP', 'checksum', at + 6, 2, hex);
		if (port === ROCE_PORT)
			readRoce(reader, at + 8, end, packet);
	} else if (protocol === 6) {
		readTcp(reader, at, end, packet);
	}
}

// {fields, src, dst, transport: 'roce', 'tcp' or null, …}. A frame that is cut off
// or wrong gives what could be read, and `broken` says why. Without shown, there are no
// fields: to write them all takes as long as the rest.
export function dissect(bytes, shown = true) {
	const reader = new Reader(bytes, shown ? [] : null), packet = {transport: null, bytes};

	packet.fields = reader.fields;
	try {
		if (shown) {
			reader.field('Ethernet', 'destination', 0, 6, mac(bytes, 0));
			reader.field('Ethernet', 'source', 6, 6, mac(bytes, 6));
		}
		const type = reader.number('Ethernet', 'type', 12, 2, x => hex(x, 4));
		if (type === 0x0800 || type === 0x86dd)
			readIp(reader, packet);
		packet.encrypted = type === 0x88e5;
	} catch (error) {
		if (!(error instanceof RangeError))
			throw error;
		packet.transport = null;
		packet.broken = error.message;
	}
	return packet;
}
