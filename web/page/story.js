// What happened in a capture, in sentences, each with the place of this book that
// explains it. Only what the wire shows: what a program did with it, it does not say.

import {PLACES, hex, isRequest, times} from './story_words.js';
import {noReads, samePsn, sharedKeys, told} from './story_agreed.js';
import {credits, drips, overtaken, rds, silences, silentWrites} from './story_talk.js';
import {RDS_PORT} from './rds.js';

// REJ's reasons, those that a program meets: IBTA specification, 12.6.7.2.
const REASONS = {1: 'it has no queue pair left', 2: 'it has no EE context', 3: 'it has no resources left',
	4: 'it waited too long', 8: 'no program listens on that port', 10: 'the queue pair is used already',
	28: 'the program refused it'};
const TLS_ALERT = 'TLS Alert';
// Who sends the same packet oftener, though answers come, does not get them. And no
// file, whoever made it, is asked about more than so many flows. A sentence names so many
// requests.
const PATIENT = 4, MOST = 100, NAMED = 4;

const PARTS = [naks, unanswered, told, samePsn, noReads, sharedKeys, connecting, overTcp, drips, credits, overtaken,
	silentWrites, rds, silences];

// packets: in their order, dissected and with their words. Returns [{text, place, bad}]:
// bad, or something that the protocol has mended by itself.
export function story(packets) {
	const found = PARTS.flatMap(part => [...part(packets)]);
	return found.sort((x, y) => x.at - y.at).slice(0, MOST);
}

const KINDS = [
	['RNR NAK', 'rnr', (x, n) => `${x.src} answered “receiver not ready” (RNR NAK) ${times(n)}: a SEND came, or a ` +
		'WRITE with immediate, and no receive was posted for it.'],
	['Remote Access Error', 'access', (x, n) => `${x.src} refused to touch its memory (NAK, Remote Access Error` +
		`${n > 1 ? `, ${times(n)}` : ''}): rkey, address, length or the permissions that it was registered with do not ` +
		'fit the request.'],
	['Invalid Request', 'invalid', x => `${x.src} refused a request (NAK, Invalid Request): its queue pair does not ` +
		'allow that operation, its path MTU is another, or the message is longer than the receive.'],
	['Remote Operational Error', 'remote', x => `${x.src} could not do a request (NAK, Remote Operational Error): ` +
		'the receive that it had posted is too short (so says rxe), or its memory is not registered.'],
];

// The request that a NAK answers.
function request(packets, nak) {
	const found = packets.slice(0, nak).findLast(x => isRequest(x) && x.src === packets[nak].dst &&
		x.psn === packets[nak].psn);
	return found ? `${found.kind}, PSN ${hex(found.psn)}` + (found.rkey === undefined ? '' :
		`, rkey ${hex(found.rkey, 0)}, ${found.dmalen ?? 8} bytes`) : '';
}

// What these NAKs answer, each once, as a sentence.
function asked(packets, hits) {
	const all = [...new Set(hits.slice(0, MOST).map(x => request(packets, x)))].filter(Boolean);
	const more = all.length > NAMED ? [`and ${all.length - NAMED} more`] : [];
	return all.length ? ` ${all.length > 1 ? 'They were' : 'It was'} ${[...all.slice(0, NAMED), ...more].join('; ')}.` : '';
}

function* naks(packets) {
	for (const [word, place, say] of KINDS) {
		const hits = packets.flatMap((x, i) => x.mark === 'nak' && x.text.includes(word) ? [i] : []);
		if (hits.length)
			yield {at: hits[0], bad: true, place: PLACES[place],
				text: say(packets[hits[0]], hits.length) + asked(packets, hits)};
	}
	const gaps = packets.flatMap((x, i) => x.mark === 'nak' && x.text.includes('PSN Sequence') ? [i] : []);
	if (gaps.length)
		yield {at: gaps[0], bad: false, place: PLACES.lost, text: `${packets[gaps[0]].src} missed a packet and said ` +
			`so (NAK, PSN Sequence Error) ${times(gaps.length)}: packets were lost, or came in another order.`};
}

// What each requester sent again: {x, again, at, last, psn, most}; psn: the last that it
// sent again, most: how often it sent that.
function repeated(packets) {
	const flows = new Map();
	packets.forEach((x, at) => {
		if (!isRequest(x))
			return;
		const key = [x.src, x.dst, x.destqp].join();
		if (!flows.has(key))
			flows.set(key, {again: 0, sent: new Map()});
		const flow = flows.get(key);
		flow.sent.set(x.psn, (flow.sent.get(x.psn) ?? 0) + 1);
		if (x.mark === 'again')
			Object.assign(flow, {x, psn: x.psn, again: flow.again + 1, at: flow.at ?? at, last: at,
				most: flow.sent.get(x.psn)});
	});
	return [...flows.values()].filter(x => x.again).slice(0, MOST);
}

const isAnswer = (y, x) => y.transport === 'roce' && y.src === x.dst && y.dst === x.src &&
	y.opcode > 12 && y.opcode <= 18;
// An answer to that PSN or to a later one, and no NAK of it.
const acknowledges = (y, x) => isAnswer(y, x) && y.mark !== 'nak' && (y.psn - x.psn & 0xffffff) < 0x800000;

// Requests that were sent again: what was lost on the way and mended, and what nobody
// has acknowledged at all.
function* unanswered(packets) {
	for (const {x, again, at, last, most} of repeated(packets)) {
		const begins = `${x.src} sent ${x.kind}, PSN ${hex(x.psn)}, to queue pair ${hex(x.destqp)} of ${x.dst} ${times(most)}`;
		const answer = packets.slice(last).find(y => acknowledges(y, x));
		const ahead = packets.find(y => isAnswer(y, x) && y.text.includes('PSN Sequence'));
		const other = packets.slice(at).find(y => isAnswer(y, x) && y.mark === '' && !acknowledges(y, x));
		if (answer && most > PATIENT)
			yield {at, bad: true, place: PLACES.silent, text: `${begins}, though it was acknowledged: to queue pair ${
				hex(answer.destqp)}. That is not the sender’s number, or the answers were lost later.`};
		else if (answer)
			yield {at, bad: false, place: PLACES.lost, text: `${x.src} sent ${again} ` +
				`${again === 1 ? 'packet' : 'packets'} again, since no acknowledgement came in time; then one came.`};
		else if (ahead)
			yield {at, bad: true, place: PLACES.silent, text: `${begins}, and nothing acknowledged it: the receiver ` +
				`expects PSN ${hex(ahead.psn)}, as its NAK (PSN Sequence Error) said.`};
		else if (packets.slice(at).some(y => isAnswer(y, x) && y.mark === 'nak'))
			continue; // The NAK has been told.
		else
			yield {at, bad: true, place: PLACES.silent, text: other ? `${begins}, and each time the answer ` +
				`acknowledged another PSN (${hex(other.psn)}): the receiver expects other PSNs than the sender sends.` :
				`${begins}, and nothing acknowledged it: no such queue pair is ready there, it expects another PSN, ` +
				'the other end is gone, or the wire is cut.'};
	}
}

function* connecting(packets) {
	const refusals = new Map();
	for (const [at, x] of packets.entries())
		if (x.kind === 'ConnectReject') {
			const key = [x.src, x.dst, x.reason].join();
			refusals.set(key, {at, x, ...refusals.get(key), n: (refusals.get(key)?.n ?? 0) + 1});
		}
	for (const {at, x, n} of [...refusals.values()].slice(0, MOST))
		yield {at, bad: true, place: PLACES.rejected, text: `${x.src} refused the connection${n > 1 ? ` ${times(n)}` : ''}, reason ${
			x.reason}${REASONS[x.reason] ? `: ${REASONS[x.reason]}` : ''}.`};
	const asks = packets.flatMap((x, i) => x.kind === 'ConnectRequest' && x.mark === 'again' ? [i] : []);
	const answers = packets.some(x => ['ConnectReply', 'ConnectReject', 'MsgRcptAck'].includes(x.kind));
	if (asks.length && !answers)
		yield {at: asks[0], bad: true, place: PLACES.unreachable, text: `${packets[asks[0]].src} asked for a connection ${
			times(asks.length + 1)}, and ${packets[asks[0]].dst} has not answered: no RDMA device has that address, or ` +
			'UDP port 4791 does not come through.'};
}

function* overTcp(packets) {
	const opened = new Set(), ended = new Set(), alerted = new Set(), said = new Map();
	for (const [at, x] of packets.entries()) {
		// The kernels' own connections for RDS begin on both sides, and one of the two is reset.
		if (x.transport !== 'tcp' || x.sport === RDS_PORT || x.dport === RDS_PORT)
			continue;
		const here = [x.src, x.sport, x.dst, x.dport].join(), there = [x.dst, x.dport, x.src, x.sport].join();
		// In TLS 1.3, a record of 24 bytes is an alert. After one from each side, both have
		// said goodbye, and an RST only means that somebody closed without reading the other's.
		if (x.text.endsWith('Application Data (24 bytes)'))
			alerted.add(here);
		const goodbye = alerted.has(here) && alerted.has(there);
		if (x.flags & 4 && !goodbye && !ended.has(here) && !ended.has(there)) {
			ended.add(here);
			yield opened.has(there) ? {at, bad: true, place: PLACES.refused,
				text: `${x.src} refused a TCP connection to port ${x.sport}: nobody listens there.`} :
				{at, bad: true, place: PLACES.left, text: `${x.src} broke off the TCP connection between port ${x.sport} and ${
					x.dport} (RST): it ended without reading what had come, as a program does that refuses its peer. ` +
					(said.has(there) && !said.has(here) ? `What came was not encrypted, ${said.get(there)}, and was not answered: ` +
					'does the other end expect TLS, or another protocol?' :
					'If TLS had begun, the reason went before it, encrypted; the programs’ own lines say it.')};
		}
		opened.delete(there);
		if (x.payload?.length || x.kind.startsWith('T') && /^TCP "|^TLS |bytes/.test(x.text))
			said.set(here, said.get(here) ?? (x.kind === 'TCP text' ? x.text.slice(4) : null));
		if ((x.flags & 0x12) === 2)
			opened.add(here);
		if (x.kind === TLS_ALERT && x.payload.length === 7)
			yield {at, bad: x.payload[5] === 2, place: PLACES.tls, text: `${x.src} ended TLS with alert ${
				x.payload[6]}${ALERTS[x.payload[6]] ? `, ${ALERTS[x.payload[6]]}` : ''}.`};
	}
}

const ALERTS = {40: 'handshake failure', 42: 'bad certificate', 45: 'certificate expired', 48: 'unknown CA', 50: 'decode error',
	70: 'protocol version', 116: 'certificate required'};

