// Packets as a third party makes them: with another's addresses, and checksums that fit.
// scripts/lib/wiretap/switch.py is the same for two virtual machines, of a WRITE.
import {crc32} from './crc32.js';

const ETHERNET = 14, IPV4 = 20, TCP = 20, UDP = 8, BTH = 12, RETH = 16, AETH = 4, ICRC = 4;
export const WRITE_ONLY = 0x0a, SEND_ONLY = 0x04, READ_REQUEST = 0x0c, READ_RESPONSE = 0x10,
	ACKNOWLEDGE = 0x11;
const ROCE_PORT = 4791;
// The messages of the CM, and where they are in a frame.
export const REP = 0x13, RTU = 0x14, DREQ = 0x15, DREP = 0x16;
const MAD = ETHERNET + IPV4 + UDP + BTH + 8, MAD_HEADER = 24;

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

// What says that the memory may be looked at now, as msg.c writes it: magic, version, type.
export const MSG_DONE = Uint8Array.of(...new TextEncoder().encode('RDMA'), 3, 2, 0, 0);

// That of a SEND of a multiple of four bytes.
export function sendBody(qpn, psn, message) {
	const [body] = bodyOf(SEND_ONLY, 0, qpn, psn, message.length);
	body.set(message, BTH);
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
