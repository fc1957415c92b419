// Packets in the words of the specification, also those of the ladders that `make wire`
// prints (scripts/lib/wire/packets.mjs).
import {hex} from './packet.js';
import {RDS_PORT, rdsMessages, readRds} from './rds.js';

const OPCODES = ['SEND First', 'SEND Middle', 'SEND Last', 'SEND Last with Immediate',
	'SEND Only', 'SEND Only with Immediate', 'RDMA WRITE First', 'RDMA WRITE Middle',
	'RDMA WRITE Last', 'RDMA WRITE Last with Immediate', 'RDMA WRITE Only',
	'RDMA WRITE Only with Immediate', 'RDMA READ Request', 'RDMA READ response First',
	'RDMA READ response Middle', 'RDMA READ response Last', 'RDMA READ response Only',
	'Acknowledge', 'Atomic Acknowledge', 'Compare and Swap', 'Fetch and Add', 'opcode 21',
	'SEND Last with Invalidate', 'SEND Only with Invalidate'];
const ATOMIC = 18;
const READ_REQUEST = 12, ACKNOWLEDGE = 17;
const CM = {0x10: 'ConnectRequest', 0x11: 'MsgRcptAck', 0x12: 'ConnectReject',
	0x13: 'ConnectReply', 0x14: 'ReadyToUse', 0x15: 'DisconnectRequest',
	0x16: 'DisconnectReply'};
const NAKS = ['PSN Sequence Error', 'Invalid Request', 'Remote Access Error',
	'Remote Operational Error'];
const TLS_RECORDS = {20: 'Change Cipher Spec', 21: 'Alert', 22: 'Handshake',
	23: 'Application Data'};
const TLS_HANDSHAKES = {1: 'Client Hello', 2: 'Server Hello'}, TLS_MAJOR = 3;
const PSN_SPACE = 1 << 24;
// Of two hosts, those whose first PSN a response is compared with.
const MOST_FLOWS = 1000;

const modulo = x => (x % PSN_SPACE + PSN_SPACE) % PSN_SPACE;

function acknowledge(syndrome) {
	const low = syndrome & 31;

	switch (syndrome >> 5) {
	case 0: return ['ACK', ''];
	case 1: return [`RNR NAK (timer ${low})`, 'nak'];
	default: return [`NAK (${NAKS[low] ?? `code ${low}`})`, 'nak'];
	}
}

// The records that a segment ends or begins; open: what is left of the one that
// the segment before it has begun, {left, name}.
function tlsRecords(payload, open) {
	const names = [];
	let at = 0;

	if (open.left) {
		at = Math.min(open.left, payload.length);
		open.left -= at;
		if (!open.left)
			names.push(open.name);
	}
	while (at + 5 <= payload.length && TLS_RECORDS[payload[at]] && payload[at + 1] === TLS_MAJOR) {
		open.name = payload[at] === 22 && TLS_HANDSHAKES[payload[at + 5]] ||
			TLS_RECORDS[payload[at]];
		names.push(open.name);
		at += 5 + (payload[at + 3] << 8 | payload[at + 4]);
	}
	open.left = Math.max(open.left, at - payload.length);
	return names;
}

function describeTcp(packet, open) {
	const {payload, flags} = packet;

	if (payload.length) {
		const tls = tlsRecords(payload, open);
		if (tls.length)
			return [`TLS ${tls[0]}`,
				`TLS ${[...new Set(tls)].join(', ')} (${payload.length} bytes)`];
		if (payload.every(byte => byte >= 32 && byte < 127 || byte === 10))
			return ['TCP text', `TCP "${String.fromCharCode(...payload).trim()}"`];
		return ['TCP data', `TCP ${payload.length} bytes`];
	}
	const names = [[2, 'SYN'], [1, 'FIN'], [4, 'RST']]
		.filter(([bit]) => flags & bit).map(([, name]) => name);
	const kind = `TCP ${names.join(' ') || 'ACK'}`;
	return [kind, kind];
}

// What a header of chapter 07's stream of files says, by enum head_type; for others,
// nothing.
const HEADS = ['HELLO', 'WELCOME', 'REFUSED', 'DATA', 'HERE', 'END', 'STORED', 'CREDIT'];
const HEAD_SIZE = 40, MAGIC = 'RDMF';

export const isHead = payload => payload.length >= HEAD_SIZE &&
	String.fromCharCode(...payload.subarray(0, MAGIC.length)) === MAGIC;

export const creditsOf = payload => payload[6] << 8 | payload[7];

function head(payload) {
	if (!isHead(payload))
		return '';
	const credits = creditsOf(payload);
	return ` ${HEADS[payload[5] - 1] ?? `type ${payload[5]}`}` +
		(credits ? ` (credits: ${credits})` : '');
}

// A capture's words: each packet in its turn, since what is sent again and how far
// a PSN is from the first depends on those before it.
export class Words {
	constructor(mtu = 1024) {
		this.mtu = mtu;
		this.first = new Map();
		this.firsts = new Map();
		this.next = new Map();
		this.asked = new Set();
		this.segments = new Map();
		this.open = new Map();
	}

	// Adds kind, text, mark ('', 'again' or 'nak'), rel and label to the packet.
	say(packet) {
		Object.assign(packet, {mark: '', rel: null});
		if (packet.transport === 'roce' && packet.cm !== undefined)
			this.sayCm(packet);
		else if (packet.transport === 'roce')
			this.sayRc(packet);
		else
			this.sayTcp(packet);
		packet.label = labelOf(packet);
		return packet;
	}

	sayCm(packet) {
		packet.kind = CM[packet.cm] ?? `CM message ${hex(packet.cm, 2)}`;
		packet.text = packet.kind;
		if (packet.startPsn !== undefined)
			packet.text += ` QPN ${hex(packet.startQpn, 6)}, ` +
				`starting PSN ${hex(packet.startPsn, 6)}`;
		if (packet.reason !== undefined)
			packet.text += ` (reason ${packet.reason})`;
		const message = [packet.src, packet.kind, packet.transaction].join();
		if (this.asked.has(message))
			packet.mark = 'again';
		this.asked.add(message);
	}

	sayRc(packet) {
		packet.kind = OPCODES[packet.opcode] ?? `opcode ${packet.opcode}`;
		packet.text = packet.kind;
		if (packet.opcode === ACKNOWLEDGE) {
			const [kind, mark] = acknowledge(packet.syndrome);
			packet.text = `${kind} MSN ${packet.msn}`;
			packet.kind = kind.split(' (')[0];
			packet.mark = mark;
		}
		if (packet.opcode > READ_REQUEST && packet.opcode <= ATOMIC)
			packet.rel = this.response(packet);
		else
			this.request(packet);
		if (packet.va !== undefined)
			packet.text += ` va 0x${packet.va.toString(16)}, rkey ` +
				`${hex(packet.rkey)}, ${packet.dmalen ?? 8} bytes`;
		if (packet.kind.startsWith('SEND'))
			this.saySend(packet);
	}

	// What stands at the beginning of a message, of those whose form is known here.
	saySend(packet) {
		const begins = /First|Only/.test(packet.kind);
		packet.text += head(packet.payload);
		packet.rds = begins ? [readRds(packet.payload)].filter(Boolean) : [];
	}

	request(packet) {
		const key = [packet.src, packet.dst, packet.destqp].join();
		const count = packet.opcode === READ_REQUEST ?
			Math.max(1, Math.ceil(packet.dmalen / this.mtu)) : 1;
		if (!this.first.has(key)) {
			this.first.set(key, packet.psn);
			const ends = `${packet.src},${packet.dst}`;
			this.firsts.set(ends, [...this.firsts.get(ends) ?? [], packet.psn].slice(0, MOST_FLOWS));
		}
		packet.rel = modulo(packet.psn - this.first.get(key));
		const ahead = modulo(packet.rel - (this.next.get(key) ?? 0));
		// Half the space back is old, half ahead is new.
		if (ahead >= PSN_SPACE / 2)
			packet.mark = 'again';
		else
			this.next.set(key, modulo(packet.rel + count));
	}

	// Responses carry the PSNs of the requester that they answer.
	response(packet) {
		const rels = (this.firsts.get(`${packet.dst},${packet.src}`) ?? [])
			.map(first => modulo(packet.psn - first));
		return rels.length ? Math.min(...rels) : null;
	}

	openRds(flow) {
		const key = `RDS ${flow}`;
		if (!this.open.has(key))
			this.open.set(key, {left: 0});
		return this.open.get(key);
	}

	sayTcp(packet) {
		if (packet.transport !== 'tcp') {
			packet.kind = packet.text = packet.broken ? 'a broken frame' :
				packet.encrypted ? `MACsec (${packet.bytes.length} bytes)` : 'other';
			return;
		}
		const flow = [packet.src, packet.sport, packet.dst, packet.dport].join();
		if (!this.open.has(flow))
			this.open.set(flow, {left: 0, name: ''});
		[packet.kind, packet.text] = describeTcp(packet, this.open.get(flow));
		packet.rds = [packet.sport, packet.dport].includes(RDS_PORT) ?
			rdsMessages(packet.payload, this.openRds(flow)) : [];
		const size = packet.payload.length + ((packet.flags & 3) ? 1 : 0);
		const next = this.segments.get(flow);
		if (size && next !== undefined && !(packet.flags & 2) &&
		    (packet.seq - next | 0) < 0)
			packet.mark = 'again';
		else if (size)
			this.segments.set(flow, packet.seq + size >>> 0);
	}
}

// One line: what it is, for which queue pair, and its PSN, as in the ladders.
function labelOf(packet) {
	const text = packet.text.replace(' bytes', ' B');

	if (packet.transport !== 'roce' || packet.rel === null)
		return text;
	return `${text.replaceAll(',', '')} QP ${hex(packet.destqp)} ` +
		`PSN ${hex(packet.psn, 6)} (+${packet.rel})`;
}

// TCP's bare acknowledgements, ARP and the like tell nothing.
export function worthShowing(packet) {
	return packet.kind !== 'TCP ACK' && packet.kind !== 'other';
}
