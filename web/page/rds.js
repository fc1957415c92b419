// RDS's own header, which stands at the beginning of each of its messages, whether they
// go in a TCP connection between two kernels or in SENDs: struct rds_header of Linux's
// net/rds/rds.h. It has a checksum, as IPv4's header has, by which it is known.
const SIZE = 48, MAP = 1, LONGEST = 1 << 20;
export const RDS_PORT = 16385;
const FLAGS = [[1, 'congestion map'], [2, 'ack required'], [4, 'retransmitted']];
// Of the ports that a map marks, so many are told.
const MOST = 8;

function checks(bytes) {
	let sum = 0;
	for (let at = 0; at < SIZE; at += 2)
		sum += bytes[at] << 8 | bytes[at + 1];
	while (sum > 0xffff)
		sum = (sum & 0xffff) + (sum >>> 16);
	return sum === 0xffff;
}

// The ports whose receivers are full, as far as they stand in this packet: a bit each.
function congested(map) {
	const ports = [];
	for (let at = 0; at < map.length && ports.length < MOST; at++)
		for (let bit = 0; map[at] && bit < 8; bit++)
			if (map[at] >> bit & 1)
				ports.push(at * 8 + bit);
	return ports;
}

// {seq, ack, length, sport, dport, flags, credit, key, congested}, or null. key: what a header's
// extension says of memory. Over TCP, there is
// no checksum: who calls knows that a header begins there.
export function readRds(bytes, sure = false) {
	if (bytes.length < SIZE || !sure && !checks(bytes))
		return null;
	const view = new DataView(bytes.buffer, bytes.byteOffset, SIZE);
	const rds = {seq: view.getBigUint64(0), ack: view.getBigUint64(8), length: view.getUint32(16),
		sport: view.getUint16(20), dport: view.getUint16(22), flags: bytes[24], credit: bytes[25]};
	const key = `0x${view.getUint32(33).toString(16)}`;
	rds.key = {2: `rkey ${key} was used`, 3: `rkey ${key} is lent`}[bytes[32]];
	rds.congested = rds.flags & MAP ? congested(bytes.subarray(SIZE, SIZE + rds.length)) : [];
	return rds.length > LONGEST || rds.flags > 7 ? null : rds;
}

// The messages whose headers begin in a segment of TCP; open: {left}, how much of a
// message that began before is still to come. A header that two segments share ends it.
export function rdsMessages(payload, open) {
	const found = [];
	let at = Math.min(open.left, payload.length);
	open.left -= at;
	while (at < payload.length && !open.lost) {
		const rds = readRds(payload.subarray(at), true);
		open.lost = !rds;
		if (!rds)
			break;
		found.push(rds);
		const end = at + SIZE + rds.length;
		open.left = Math.max(0, end - payload.length);
		at = Math.min(end, payload.length);
	}
	return found;
}

export function rdsText(rds) {
	const notes = FLAGS.filter(([bit]) => rds.flags & bit).map(x => x[1]);
	if (rds.credit)
		notes.push(`${rds.credit} credits`);
	if (!(rds.flags & MAP) && !rds.dport)
		notes.unshift(rds.sport ? 'ping' : 'only an ack');
	else if (!(rds.flags & MAP) && !rds.sport)
		notes.unshift('pong');
	if (rds.key)
		notes.push(rds.key);
	if (rds.congested.length)
		notes.push(`full: port ${rds.congested.join(' ')}`);
	return `RDS seq ${rds.seq} ack ${rds.ack} len ${rds.length} port ${rds.sport} > ${rds.dport}${
		notes.length ? ` (${notes.join('; ')})` : ''}`;
}
