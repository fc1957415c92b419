// Third parties at the wire: each reads what passes, and sends packets of its own.
// docs/psn_security.md tells the story, and scripts/lib/wiretap/ has the WRITE for two
// virtual machines.
//
// client(bytes) and server(bytes) are told of each frame that either side has sent, and
// return what comes of it: whether the third party drops it, and what it sends behind it,
// {drops, toServer, toClient}. hear(line) is told of each line of the client's log, and
// returns a frame for the server, several, or null. sent counts the frames of its own.
import {dissect} from './packet.js';
import {ACKNOWLEDGE, DREP, MSG_DONE, READ_REQUEST, READ_RESPONSE, REP, RTU, SEND_ONLY, WRITE_ONLY,
	answerBody, forge, forgeDreq, forgeRst, sendBody, writeBody} from './forge.js';

// What an answer says: all is well, or a remote access error.
const ACK = 0x1f, NAK_REMOTE_ACCESS = 0x62;
const PAYLOAD = new TextEncoder().encode('forged: neither of you wrote this\0');

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
	// It is the client's first packet.
	return {qpn: Number(qpn), psn: Number(psn), va: BigInt(va), rkey: Number(rkey)};
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

// What a client's PSN is where it can be predicted: to 8 bits.
export const PREDICTED = 0x5a0000, NUMBERS = 256;
// To the server, from a third node's MAC.
const FROM_THIRD = Uint8Array.of(2, 0, 0, 0, 2, 1, 2, 0, 0, 0, 2, 3);

// Has read nothing, and sends a SEND with each number that the client may have: sweep. It is
// told which queue pair is the server's, and when both are connected.
class Sweeper {
	constructor() {
		Object.assign(this, {sent: 0, qpn: null});
	}

	hear(line) {
		this.qpn ??= /dest_qp_num=(\w+)/.exec(line)?.[1] ?? null;
		if (this.sent || this.qpn === null || !line.startsWith('both sides'))
			return null;
		this.sent = NUMBERS;
		return Array.from({length: NUMBERS}, (_, i) =>
			forge(FROM_THIRD, TO_SERVER, sendBody(Number(this.qpn), PREDICTED + i, MSG_DONE)));
	}

	server() {
		return {};
	}

	client() {
		return {};
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
	if (what === 'sweep')
		return new Sweeper();
	return ['data', 'ack', 'nak'].includes(what) ? new Answerer(what) : new Forger(link);
}
