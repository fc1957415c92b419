// Third parties at the wire: each reads what passes, and sends packets of its own.
// docs/psn_security.md tells the story, and scripts/lib/wiretap/ is the same for two
// virtual machines.
//
// client(bytes) and server(bytes) are told of each frame that either side has sent, and
// return what comes of it: whether the third party drops it, and what it sends behind it,
// {drops, toServer, toClient}. hear(line) is told of each line of the client's log, and
// returns a frame for the server, or null. sent counts the frames of its own.
import {dissect} from './packet.js';
import {crc32} from './crc32.js';

const ETHERNET = 14, IPV4 = 20, TCP = 20, UDP = 8, BTH = 12, RETH = 16, AETH = 4, ICRC = 4;
const WRITE_ONLY = 0x0a, SEND_ONLY = 0x04, READ_REQUEST = 0x0c, READ_RESPONSE = 0x10,
	ACKNOWLEDGE = 0x11, ROCE_PORT = 4791;
// What an answer says: all is well, or a remote access error.
const ACK = 0x1f, NAK_REMOTE_ACCESS = 0x62;
// The messages of the CM, and where they are in a frame.
const REP = 0x13, RTU = 0x14, DREQ = 0x15, DREP = 0x16;
const MAD = ETHERNET + IPV4 + UDP + BTH + 8, MAD_HEADER = 24;
const PAYLOAD = new TextEncoder().encode('forged: neither of you wrote this\0');

// The invariant checksum of an IPv4 packet without the one at its end: what a
// router may change counts as ones, after eight bytes of ones.
export function icrc(packet) {
	const masked = new Uint8Array(8 + packet.length).fill(0xff, 0, 8);
	masked.set(packet, 8);
	for (const at of [1, 8, 10, 11, IPV4 + 6, IPV4 + 7, IPV4 + UDP + 4])
		masked[8 + at] = 0xff;
	return crc32(masked);
}

function ipChecksum(header) {
	let total = 0;
	for (let at = 0; at < header.length; at += 2)
		total += header[at] << 8 | header[at + 1];
	while (total > 0xffff)
		total = (total & 0xffff) + (total >> 16);
	return ~total & 0xffff;
}

// A frame with that body, from and to whom one likes. macs: 12 bytes; addresses: 8,
// the sender's and the receiver's.
export function forge(macs, addresses, body) {
	const udp = UDP + body.length + ICRC;
	const frame = new Uint8Array(ETHERNET + IPV4 + udp), view = new DataView(frame.buffer);
	frame.set(macs.subarray(0, 12));
	view.setUint16(12, 0x0800);
	let at = ETHERNET;
	view.setUint16(at, 0x4500);
	view.setUint16(at + 2, IPV4 + udp);
	view.setUint16(at + 6, 0x4000);
	frame.set([64, 17], at + 8);
	frame.set(addresses, at + 12);
	view.setUint16(at + 10, ipChecksum(frame.subarray(at, at + IPV4)));
	at += IPV4;
	[49152, ROCE_PORT, udp, 0].forEach((x, i) => view.setUint16(at + 2 * i, x));
	frame.set(body, at + UDP);
	return seal(frame);
}

// With the ICRC at its end that it must have.
function seal(frame) {
	new DataView(frame.buffer).setUint32(frame.length - ICRC,
		icrc(frame.subarray(ETHERNET, -ICRC)), true);
	return frame;
}

// The BTH of a packet, and room for what follows. The default partition; nobody is asked
// for an acknowledgement.
function bodyOf(opcode, pad, qpn, psn, size) {
	const body = new Uint8Array(BTH + size), view = new DataView(body.buffer);
	body.set([opcode, pad << 4, 0xff, 0xff]);
	view.setUint32(4, qpn);
	view.setUint32(8, psn);
	return [body, view];
}

// The RoCE part of a WRITE: {qpn, psn, va, rkey}.
export function writeBody({qpn, psn, va, rkey}, payload) {
	const pad = -payload.length & 3;
	const [body, view] = bodyOf(WRITE_ONLY, pad, qpn, psn, RETH + payload.length + pad);
	view.setBigUint64(BTH, va);
	view.setUint32(BTH + 8, rkey);
	view.setUint32(BTH + 12, payload.length);
	body.set(payload, BTH + RETH);
	return body;
}

// That of an ACK or NAK, or of a READ response with a multiple of four bytes.
export function answerBody(opcode, qpn, psn, says, payload = []) {
	const [body, view] = bodyOf(opcode, 0, qpn, psn, AETH + payload.length);
	view.setUint32(BTH, says << 24);
	body.set(payload, BTH + AETH);
	return body;
}

// The goodbye of whoever has sent this RTU, to the peer's queue pair qpn.
export function forgeDreq(rtu, qpn) {
	const length = new DataView(rtu.buffer, rtu.byteOffset).getUint16(ETHERNET + 2);
	const frame = new Uint8Array(rtu.subarray(0, ETHERNET + length)), view = new DataView(frame.buffer);
	view.setUint16(MAD + 16, DREQ);
	view.setUint32(MAD + MAD_HEADER + 8, qpn << 8);
	return seal(frame);
}

// What ends the TCP connection of whoever has sent this frame. The number that it must
// have is that of the next byte; TCP's checksum covers the addresses (RFC 9293).
export function forgeRst(bytes) {
	const packet = bytes.subarray(ETHERNET), read = new DataView(packet.buffer, packet.byteOffset);
	const [flags, offset] = [packet[IPV4 + 13], (packet[IPV4 + 12] >> 4) * 4];
	// SYN and FIN each count as a byte.
	const next = read.getUint32(IPV4 + 4) + read.getUint16(2) - IPV4 - offset + (flags & 1) + (flags >> 1 & 1);
	const frame = new Uint8Array(ETHERNET + IPV4 + TCP), view = new DataView(frame.buffer);
	frame.set(bytes.subarray(0, ETHERNET));
	frame.set([0x45, 0, 0, IPV4 + TCP, 0, 0, 0x40, 0, 64, 6], ETHERNET);
	frame.set(packet.subarray(12, IPV4 + 4), ETHERNET + 12);
	view.setUint16(ETHERNET + 10, ipChecksum(frame.subarray(ETHERNET, ETHERNET + IPV4)));
	view.setUint32(ETHERNET + IPV4 + 4, next);
	frame.set(packet.subarray(IPV4 + 8, IPV4 + 12), ETHERNET + IPV4 + 8);
	// RST and ACK.
	frame.set([5 << 4, 0x14], ETHERNET + IPV4 + 12);
	view.setUint16(ETHERNET + IPV4 + 16, ipChecksum([...packet.subarray(12, IPV4), 0, 6, 0, TCP,
		...frame.subarray(ETHERNET + IPV4)]));
	return frame;
}

// So many bytes as the peer might have had: pattern.c shows what is behind a text.
export function likely(length) {
	const text = PAYLOAD.subarray(0, -1);
	const seed = text.reduce((sum, byte) => sum * 3 + byte & 0xff, 0);
	return Uint8Array.from({length}, (_, i) => i < text.length ? text[i] : i === text.length ? 0 :
		(i ^ (i >> 8) * 31 ^ (i >> 16) * 17) + seed);
}

// What the client's own log says of its WRITE, for a wire that cannot be read.
export function told(lines) {
	const text = lines.join('\n');
	const [qpn, psn, va, rkey] = [/dest_qp_num=(\w+)/, /\bsq_psn=(\w+)/,
		/peer_mr\.addr=(\w+)/, /peer_mr\.rkey=(\w+)/].map(x => x.exec(text)?.[1]);
	if (!rkey)
		return null;
	// Two messages are before it: the client's number, and the server's back.
	return {qpn: Number(qpn), psn: Number(psn) + 2 & 0xffffff, va: BigInt(va), rkey: Number(rkey)};
}

const TO_SERVER = [192, 0, 2, 2, 192, 0, 2, 1];

// Reads one RDMA WRITE of the client's, and sends the server another, with the next PSN.
export class Forger {
	// link: open, nothing, badkey (what it sends); told, macsec (it reads no packet).
	constructor(link) {
		Object.assign(this, {link, lines: [], sent: 0, frame: null,
			blind: link === 'told' || link === 'macsec'});
	}

	// A line of the client's log: what to send at once, or null. It may be told only
	// when the packet is past behind which that belongs.
	hear(line) {
		this.lines.push(line);
		return this.blind && !this.frame && this.last ? this.look(this.last) : null;
	}

	client(bytes) {
		return {toServer: this.look(bytes)};
	}

	server() {
		return {};
	}

	// What to send behind a frame of the client's, or null.
	look(bytes) {
		const first = !this.frame;
		this.last = bytes;
		this.frame ??= this.blind ? this.fromLog(bytes) : this.fromPacket(bytes);
		// Who cannot read does not know which frame is which, and tries behind each.
		const send = this.frame && (first || this.blind) ? this.frame : null;
		this.sent += send ? 1 : 0;
		return send;
	}

	fromPacket(bytes) {
		const packet = dissect(bytes, false);
		if (packet.transport !== 'roce' || packet.opcode !== WRITE_ONLY)
			return null;
		return this.next(bytes, {qpn: packet.destqp, psn: packet.psn, va: packet.va, rkey: packet.rkey});
	}

	fromLog(bytes) {
		const write = told(this.lines);
		return write && this.next(bytes, write);
	}

	next(bytes, write) {
		const psn = write.psn + 1 & 0xffffff;
		if (this.link === 'nothing')
			return forge(bytes, TO_SERVER, writeBody({...write, psn, va: 0n, rkey: 0}, new Uint8Array()));
		const rkey = this.link === 'badkey' ? (write.rkey ^ 0x80) >>> 0 : write.rkey;
		return forge(bytes, TO_SERVER, writeBody({...write, psn, rkey}, PAYLOAD));
	}
}

// What a frame says if it is of a reliable connection, or null.
function connected(bytes) {
	const packet = dissect(bytes, false);
	return packet.transport === 'roce' && packet.opcode < 0x20 ? packet : null;
}

// Answers a request of the client's before the server can: data, ack, nak. It needs the
// client's QPN, which is in what the server sends; until it has seen that, it keeps the
// request, which the client repeats.
class Answerer {
	constructor(link) {
		Object.assign(this, {link, sent: 0, qpn: null,
			asks: link === 'data' ? READ_REQUEST : SEND_ONLY});
	}

	hear() {
		return null;
	}

	server(bytes) {
		this.qpn = connected(bytes)?.destqp ?? this.qpn;
		return {};
	}

	client(bytes) {
		const packet = connected(bytes);
		if (packet?.opcode !== this.asks)
			return {};
		// What has an answer already is repeated only if that was lost.
		if (this.sent || this.qpn === null)
			return {drops: !this.sent || this.link === 'ack'};
		this.sent++;
		return {drops: this.link === 'ack', toClient: this.answer(bytes, packet)};
	}

	answer(bytes, {psn, dmalen}) {
		const macs = Uint8Array.of(...bytes.subarray(6, 12), ...bytes.subarray(0, 6));
		const addresses = [...bytes.subarray(30, 34), ...bytes.subarray(26, 30)];
		return forge(macs, addresses, this.link === 'data' ?
			answerBody(READ_RESPONSE, this.qpn, psn, ACK, likely(dmalen)) :
			answerBody(ACKNOWLEDGE, this.qpn, psn, this.link === 'ack' ? ACK : NAK_REMOTE_ACCESS));
	}
}

// Says the client's goodbye from what the CM says in the clear: dreq. What the client
// sends to its queue pair is kept until the server has answered that, so that the server
// has had nothing else.
class Goodbye {
	constructor() {
		Object.assign(this, {sent: 0, qpn: null, answered: false});
	}

	hear() {
		return null;
	}

	server(bytes) {
		const {cm, startQpn} = dissect(bytes, false);
		if (cm === REP)
			this.qpn = startQpn;
		this.answered ||= this.sent > 0 && cm === DREP;
		return {};
	}

	client(bytes) {
		if (this.sent || this.qpn === null)
			return {drops: this.sent > 0 && !this.answered && connected(bytes) !== null};
		if (dissect(bytes, false).cm !== RTU)
			return {};
		this.sent++;
		return {toServer: forgeDreq(bytes, this.qpn)};
	}
}

// Resets the client's TCP connection at the server's side: rst. It does so when the
// server's first WRITE goes by, since the exchange is over then.
class Resetter {
	constructor() {
		Object.assign(this, {sent: 0, last: null});
	}

	hear() {
		return null;
	}

	client(bytes) {
		if (dissect(bytes, false).transport === 'tcp')
			this.last = bytes;
		return {};
	}

	server(bytes) {
		if (this.sent || !this.last || connected(bytes)?.opcode !== WRITE_ONLY)
			return {};
		this.sent++;
		return {toServer: forgeRst(this.last)};
	}
}

// The third party for a link of wiretap.js. "data macsec" is the same as data: what it is
// to read is encrypted, and it has to find out.
export function thirdParty(link) {
	const [what] = link.split(' ');
	if (what === 'dreq')
		return new Goodbye();
	if (what === 'rst')
		return new Resetter();
	return ['data', 'ack', 'nak'].includes(what) ? new Answerer(what) : new Forger(link);
}
