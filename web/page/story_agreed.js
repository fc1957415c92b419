// What both ends have told each other, or allowed each other, and what they then did.
import {PLACES, SILENCE_MS, hex, isRequest} from './story_words.js';

// Of one capture, whoever made it, so many words in the clear are looked at.
const MOST = 100;
const TOLD = /^TCP "RDMA \d+ QPN \S+ PSN (0x[0-9a-f]+) GID (\S+)/;

// Where the queue pairs' numbers are exchanged as text.
export function* told(packets) {
	const texts = [...packets.entries()].filter(([, x]) => x.text.startsWith('TCP "RDMA ')).slice(0, MOST);
	for (const [at, x] of texts) {
		const [, psn, gid] = TOLD.exec(x.text) ?? [];
		const first = psn && packets.slice(at).find(y => isRequest(y) && y.src === x.src);
		if (first && first.psn !== Number(psn))
			yield {at, bad: true, place: PLACES.silent, text: `${x.src} told ${x.dst} that its first PSN is ${psn}, ` +
				`and began with ${hex(first.psn)}.`};
		if (gid === '::')
			yield {at, bad: true, place: PLACES.gid, text: `${x.src} told ${x.dst} the GID “::”, which is an empty place ` +
				'in the table of GIDs and no address: neither queue pair can become ready (RTR).'};
		if (psn)
			yield* early(packets, at, x);
	}
}

// A request that goes out before the other end has said that it is ready.
function* early(packets, at, x) {
	const after = packets.slice(at), sent = after.findIndex(y => isRequest(y) && y.src === x.src && y.dst === x.dst);
	const ready = after.findIndex(y => y.src === x.dst && y.text === 'TCP "READY"');
	if (sent >= 0 && after[sent].mark === '' && (ready < 0 || ready > sent))
		yield {at: at + sent, bad: true, place: PLACES.silent, text: `${x.src} sent its first request before ${
			x.dst} had said READY: what comes to a queue pair that is not ready is dropped.`};
}

// How the flows between two hosts begin: one PSN for all of them is not drawn at random.
export function* samePsn(packets) {
	const firsts = new Map(), seen = new Set();
	packets.forEach((x, at) => {
		const flow = isRequest(x) && [x.src, x.dst, x.destqp].join();
		if (!flow || seen.has(flow) || seen.size > 1000)
			return;
		seen.add(flow);
		const ends = [x.src, x.dst].sort().join();
		firsts.set(ends, [...firsts.get(ends) ?? [], {at, x}]);
	});
	for (const flows of firsts.values()) {
		const [{x, at}] = flows.slice(-1);
		if (flows.length > 1 && flows.every(y => y.x.psn === x.psn))
			yield {at, bad: true, place: 'docs/psn_security.html', text: `${x.src} and ${x.dst} begin with the same PSN, ${
				hex(x.psn)}, on ${flows.length} queue pairs. Each should draw its own at random: either it is always ` +
				'the same, and an old packet can pass for a new one, or one end uses the other’s.'};
	}
}

// A server that allows no READs, though its client may want some. Where the conversation
// ends soon after its last packet, nobody has waited for one.
export function* noReads(packets) {
	const requests = new Map(), waits = new Map(); // the last one of each pair of hosts
	for (const [at, x] of packets.entries()) {
		const to = `${x.dst},${x.src}`, from = `${x.src},${x.dst}`, wait = waits.get(to) ?? waits.get(from);
		if (x.kind === 'ConnectRequest')
			requests.set(from, x);
		else if (x.kind === 'ConnectReply' && x.responderResources === 0 && requests.get(to)?.initiatorDepth)
			waits.set(to, {at, x, depth: requests.get(to).initiatorDepth, last: x.time});
		else if (wait && x.kind === 'DisconnectRequest' && x.time - wait.last < SILENCE_MS)
			[to, from].forEach(key => waits.delete(key));
		else if (wait)
			wait.last = x.time;
	}
	for (const {at, x, depth} of waits.values())
		yield {at, bad: true, place: PLACES.hang, text: `${x.src} accepted with 0 responder resources, so it serves no RDMA ` +
			`READ; ${x.dst} had asked for ${depth} at a time. On rxe, a READ of ${x.dst} then waits ` +
			'for ever and is never sent.'};
}

// Queue pairs that use one key share a protection domain; for clients that do not trust
// each other, that is a mistake, and otherwise it is not.
export function* sharedKeys(packets) {
	const users = new Map(), said = new Set();
	for (const [at, x] of packets.entries()) {
		if (!x.rkey || !isRequest(x) || users.size > 10_000)
			continue;
		const key = `${x.dst},${x.rkey}`;
		users.set(key, users.get(key) ?? x.destqp);
		if (users.get(key) === x.destqp || said.has(x.dst))
			continue;
		said.add(x.dst);
		yield {at, bad: false, place: '05_multiclient/index.html', text: `Two queue pairs of ${x.dst}, ${
			hex(users.get(key))} and ${hex(x.destqp)}, were asked with the same rkey, ${hex(x.rkey, 0)}. If both may ` +
			'use it, they share a protection domain: then each client can reach what is lent to the other.'};
	}
}
