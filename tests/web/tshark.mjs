// A capture, field by field, as tshark has it and as the page has it.
//
// usage: node tests/web/tshark.mjs FILE...     for captures of others
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {readFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {framesOf} from '../../web/page/capture.js';
import {dissect} from '../../web/page/packet.js';

// tshark's field, and what the page has of it, as numbers.
const FIELDS = [['infiniband.bth.opcode', 'opcode'], ['infiniband.bth.destqp', 'destqp'],
	['infiniband.bth.psn', 'psn'], ['infiniband.bth.padcnt', 'padding'], ['infiniband.reth.va', 'va'],
	['infiniband.reth.r_key', 'rkey'], ['infiniband.reth.dmalen', 'dmalen'],
	['infiniband.aeth.syndrome', 'syndrome'], ['infiniband.aeth.msn', 'msn'],
	['infiniband.deth.srcqp', 'srcqp'], ['infiniband.deth.q_key', 'qkey'], ['infiniband.immdt', 'immediate'],
	['infiniband.atomiceth.va', 'va'], ['infiniband.atomiceth.swapdt', 'swap'], ['infiniband.atomiceth.cmpdt', 'compare'],
	['infiniband.mad.attributeid', 'cm'], ['infiniband.cm.rej.reason', 'reason'],
	['infiniband.cm.req.startpsn', 'startPsn'], ['infiniband.cm.rep.startpsn', 'startPsn'],
	['infiniband.cm.req.localqpn', 'startQpn'], ['infiniband.cm.rep.localqpn', 'startQpn'],
	['infiniband.cm.req.responderres', 'responderResources'], ['infiniband.cm.rep.respres', 'responderResources'],
	['infiniband.cm.req.initdepth', 'initiatorDepth'], ['infiniband.cm.rep.initdepth', 'initiatorDepth'],
	['tcp.srcport', 'sport'], ['tcp.dstport', 'dport'], ['tcp.seq_raw', 'seq'], ['tcp.ack_raw', 'ack']];
const known = new Set(execFileSync('tshark', ['-G', 'fields'], {encoding: 'utf8', maxBuffer: 1e9,
	stdio: ['ignore', 'pipe', 'ignore']}).split('\n').map(x => x.split('\t')[2]));
export const asked = FIELDS.filter(([name]) => known.has(name));

// A device may send from any port, also from TFTP's; tshark would read that instead. It
// takes 0.2 s to start, so it reads all captures one behind the other: {path: rows}.
export function tshark(paths) {
	const fields = asked.map(([name]) => `-e ${name}`).join(' ');
	const rows = execFileSync('bash', ['-o', 'pipefail', '-c', `mergecap -a -w - "$@" |
		tshark -n --disable-protocol tftp -r - -T fields -E separator=/t -E occurrence=f ${fields}`, 'tshark', ...paths],
		{encoding: 'utf8', maxBuffer: 1e9, stdio: ['ignore', 'pipe', 'ignore']})
		.split('\n').slice(0, -1).map(x => x.split('\t'));
	const said = Object.fromEntries(paths.map(path => [path, rows.splice(0, frames(path).length)]));
	assert.equal(rows.length, 0);
	return said;
}

const frames = path => [...framesOf(new Uint8Array(readFileSync(path)))];

// Both ways: what tshark has, the page has; what the page has, tshark has. How many
// fields that were.
export function agrees(path, rows = tshark([path])[path]) {
	assert.equal(frames(path).length, rows.length);
	let compared = 0;
	frames(path).forEach(({bytes}, i) => {
		// Of a kind of link that the page does not read.
		if (!bytes)
			return;
		const packet = dissect(bytes), said = new Map();
		asked.forEach(([name, own], at) => {
			// tshark writes immediate data as bytes, in hexadecimal digits.
			if (rows[i][at] !== '')
				said.set(own, BigInt((name === 'infiniband.immdt' ? '0x' : '') + rows[i][at]));
		});
		for (const own of new Set(asked.map(x => x[1]))) {
			assert.equal(packet[own] === undefined ? undefined : BigInt(packet[own]), said.get(own), `${path}: frame ${i + 1}: ${own}`);
			compared += said.has(own);
		}
	});
	return compared;
}

if (process.argv[1] === fileURLToPath(import.meta.url))
	for (const path of process.argv.slice(2))
		console.log(`${path}: ${agrees(path)} fields are the same`);
