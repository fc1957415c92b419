// A capture as the page shows it: its first packets in full, and what happened in all.
import {framesOf} from './capture.js';
import {dissect} from './packet.js';
import {Words, creditsOf, isHead, worthShowing} from './words.js';
import {story} from './story.js';
import {rdsText} from './rds.js';

// So many packets are drawn; so often the page hears how far it is.
const SHOWN = 2000, EVERY = 20_000;
// What the story needs of a packet: all the rest is let go, or a long capture would not
// fit into memory.
const keep = (x, time) => ({time, src: x.src, dst: x.dst, transport: x.transport, opcode: x.opcode, cm: x.cm, psn: x.psn,
	destqp: x.destqp, kind: x.kind, text: x.text, mark: x.mark, reason: x.reason, va: x.va, rkey: x.rkey,
	dmalen: x.dmalen, flags: x.flags, sport: x.sport, dport: x.dport, rds: x.rds?.length ? x.rds : undefined,
	responderResources: x.responderResources, initiatorDepth: x.initiatorDepth,
	credits: x.transport === 'roce' && isHead(x.payload) ? creditsOf(x.payload) : undefined,
	payload: x.kind === 'TLS Alert' ? x.payload.slice(0, 8) : undefined});

// {entries, names, count, others, broken, cut, trouble, found}; heard(count) now and then.
export function openCapture(data, heard = () => {}) {
	const words = new Words(), kept = [], entries = [];
	const all = {count: 0, others: 0, broken: 0, cut: 0, trouble: ''};
	let hosts = null;
	try {
		for (const {time, bytes, cut} of framesOf(data)) {
			if (++all.count % EVERY === 0)
				heard(all.count);
			all.cut += cut > 0;
			const packet = bytes && words.say(dissect(bytes, entries.length < SHOWN));
			all.broken += Boolean(packet?.broken);
			if (!packet?.transport || !worthShowing(packet)) {
				all.others++;
				continue;
			}
			// Who is asked first is the server, on the left.
			hosts ??= [packet.dst, packet.src];
			kept.push(keep(packet, time));
			if (entries.length < SHOWN)
				entries.push(entryOf(packet, bytes, time, hosts));
		}
	} catch (error) {
		if (!(error instanceof RangeError))
			throw error;
		all.trouble = error.message;
	}
	return {...all, entries, packets: kept.length, names: hosts ?? ['', ''], found: story(kept)};
}

function entryOf(packet, bytes, time, hosts) {
	const copy = bytes.slice(), ours = hosts.includes(packet.src) && hosts.includes(packet.dst);
	const label = [ours ? '' : `${packet.src} > ${packet.dst}`, packet.label,
		...(packet.rds ?? []).map(rdsText)].filter(Boolean).join(' ');
	return {type: 'packet', time, packet: {...packet, label, bytes: copy, payload: undefined},
		record: {from: packet.src === hosts[0] ? 'a' : 'b', fate: 'arrived', bytes: copy, captured: true}};
}
