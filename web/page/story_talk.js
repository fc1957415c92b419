// How the conversation went: who waited in vain, who sent byte by byte, whose credits do
// not add up, and what was written to memory that somebody still looks at.
import {PLACES, SILENCE_MS, hex, isRequest, times} from './story_words.js';
import {RDS_PORT} from './rds.js';

const FIN_OR_RST = 5, READ = 12, WRITES = [6, 10, 11];
// A record of TLS 1.3 around one byte; so many of them, so far apart, are no accident.
const ONE_BYTE = 23, DRIPS = 3, APART_MS = 500;
// Of one capture, so many ports are kept in mind; and of one flow, so many requests.
const MOST = 1000, OPEN = 64;

const isTcp = x => x.transport === 'tcp' && x.sport !== RDS_PORT && x.dport !== RDS_PORT;
const ends = x => x.kind === 'DisconnectRequest' || isTcp(x) && (x.flags & FIN_OR_RST) !== 0;
const count = (n, what) => `${n} ${what}${n === 1 ? '' : 's'}`;
const pair = x => x.src < x.dst ? `${x.src},${x.dst}` : `${x.dst},${x.src}`;

// Nothing crossed for seconds, and then one end went.
export function* silences(packets) {
	const last = new Map(), gone = new Set();
	for (const [at, x] of packets.entries()) {
		const key = pair(x), before = last.get(key);
		if (ends(x) && !gone.has(key)) {
			gone.add(key);
			if (before && x.time - before.time >= SILENCE_MS)
				yield {at, bad: false, place: PLACES.waited, text: `For ${((x.time - before.time) / 1000).toFixed(1)} s nobody sent ` +
					`anything; then ${x.src} ended the connection. A program waited in vain: for one at the other ` +
					'end, or for a completion. The last packet before that was ' +
					`${before.kind} from ${before.src}.`};
		}
		last.set(key, x);
	}
}

export function* drips(packets) {
	const flows = new Map();
	for (const [at, x] of packets.entries()) {
		if (!isTcp(x) || !x.text.startsWith('TLS '))
			continue;
		const flow = [x.src, x.sport, x.dst, x.dport].join(), one = flows.get(flow) ?? {count: 0, time: -Infinity};
		flows.set(flow, one);
		const single = x.text.endsWith(`TLS Application Data (${ONE_BYTE} bytes)`);
		one.count = single ? one.count + (!one.count || x.time - one.time >= APART_MS) : 0;
		one.time = x.time;
		if (single && one.count === DRIPS)
			yield {at, bad: true, place: PLACES.waited, text: `${x.src} sends one byte at a time, each in a record of its own, and ` +
				`waits in between. A deadline for each read would never end that; one for the whole message does.`};
	}
}

// Chapter 07's streams, from their beginning: each end's first credits say how many receives it
// has. Any other is for a message that came, so there are never more of these than messages.
export function* credits(packets) {
	const streams = new Map();
	for (const [at, x] of packets.entries()) {
		if (x.kind === 'ConnectRequest')
			streams.set(pair(x), {came: {}, returned: {}, told: {}});
		const head = x.credits !== undefined;
		if (x.mark !== '' || !head && x.opcode !== 9 && x.opcode !== 11)
			continue;
		const stream = streams.get(pair(x));
		if (!stream)
			continue;
		const {came, returned, told} = stream, got = came[x.dst] ?? 0;
		came[x.src] = (came[x.src] ?? 0) + 1;
		if (told[x.src])
			returned[x.src] = (returned[x.src] ?? 0) + (x.credits ?? 0);
		told[x.src] ||= x.credits > 0;
		if (returned[x.src] > got) {
			yield {at, bad: true, place: PLACES.protocol, text: `${x.src} has returned ${count(returned[x.src], 'credit')} and got ${
				count(got, 'message')} that takes one: it promises receives that are not there.`};
			return;
		}
	}
}

const overlap = (x, y) => x.rkey === y.rkey && x.va < y.va + BigInt(y.dmalen) && y.va < x.va + BigInt(x.dmalen);

// A WRITE to what a READ before it has not brought yet.
export function* overtaken(packets) {
	const open = new Map();
	let often = 0, first = null;
	for (const [at, x] of packets.entries()) {
		if (x.transport !== 'roce' || x.opcode !== READ && !open.size)
			continue;
		const flow = `${x.src},${x.dst}`, back = `${x.dst},${x.src}`;
		if (x.opcode === READ && x.va !== undefined)
			open.set(flow, [...open.get(flow) ?? [], x].slice(-OPEN));
		else if (x.opcode === 15 || x.opcode === 16)
			open.set(back, (open.get(back) ?? []).filter(y => (x.psn - y.psn & 0xffffff) >= 0x800000));
		else if (WRITES.includes(x.opcode) && (open.get(flow) ?? []).some(y => y.destqp === x.destqp && overlap(x, y)) && ++often)
			first ??= {at, x};
	}
	if (first)
		yield {at: first.at, bad: true, place: PLACES.bytes, text: `${first.x.src} sent a WRITE to memory of ${first.x.dst} that it was ` +
			`still reading, ${times(often)}: the READ’s answer had not come. Without a fence (IBV_SEND_FENCE), what it ` +
			'writes is not what it has read.'};
}

// Whoever writes where it has announced something by immediate data, without any, changes
// what the program there may be looking at.
export function* silentWrites(packets) {
	const announced = new Map();
	for (const [at, x] of packets.entries()) {
		if (!isRequest(x) || x.va === undefined || x.opcode === READ || x.mark === 'again')
			continue;
		const flow = [x.src, x.dst, x.destqp].join(), known = announced.get(flow) ?? [];
		if (x.opcode === 11)
			announced.set(flow, [...known, x].slice(-OPEN));
		else if (x.opcode === 10 && known.some(y => overlap(x, y))) {
			yield {at, bad: false, place: PLACES.bytes, text: `${x.src} wrote again to ${hex(x.va, 0)} of ${x.dst}, now without immediate ` +
				'data: no program is told. If that one looks at its memory twice, it sees two things.'};
			return;
		}
	}
}

// What RDS's headers tell: whose queue is full, and which port has never answered.
export function* rds(packets) {
	const asked = new Map(), spoken = new Set(), full = new Set();
	for (const [at, x] of packets.entries())
		for (const one of x.rds ?? []) {
			for (const port of one.congested.filter(port => !full.has(`${x.src} ${port}`))) {
				full.add(`${x.src} ${port}`);
				yield {at, bad: false, place: 'docs/rds.html', text: `${x.src} says that port ${port} is congested: the queue of the ` +
					'socket there is full, since its program does not read. Until the map changes, a sender gets ENOBUFS, ' +
					'and POLLOUT says nothing of that.'};
			}
			if (one.sport)
				spoken.add(`${x.src} ${one.sport}`);
			if (one.length && one.sport && one.dport && asked.size < MOST && !asked.has(`${x.dst} ${one.dport}`))
				asked.set(`${x.dst} ${one.dport}`, {at, x, port: one.dport});
		}
	for (const [key, {at, x, port}] of asked)
		if (!spoken.has(key) && !full.has(key))
			yield {at, bad: false, place: PLACES.rds, text: `Port ${port} of ${x.dst} got a message by RDS and has sent none. RDS tells ` +
				'nobody whether a socket has that port: the other kernel acknowledges a message, and then drops it.'};
}
