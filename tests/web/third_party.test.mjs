// The third party at the wire sends what scripts/lib/wiretap/ sends in the lab.
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {readFileSync} from 'node:fs';
import test from 'node:test';
import {framesOf} from '../../web/page/capture.js';
import {forge, forgeDreq, icrc, writeBody} from '../../web/page/forge.js';
import {Forger, thirdParty, told} from '../../web/page/third_party.js';
import {LINKS, linksOf} from '../../web/page/wiretap.js';

const LIKE = Uint8Array.from([2, 0, 0, 0, 2, 1, 2, 0, 0, 0, 2, 2, 8, 0]);
const ADDRESSES = [192, 0, 2, 2, 192, 0, 2, 1];
const WRITE = {qpn: 0x12, psn: 0xfffffe, va: 0x56167a0c000n, rkey: 0x80000706};
const PAYLOAD = new TextEncoder().encode('forged: neither of you wrote this\0');
const hex = bytes => Buffer.from(bytes).toString('hex');

function python(code) {
	return execFileSync('/usr/bin/python3', ['-B', '-c', `from lib.wiretap import switch
from scapy.layers.l2 import Ether
${code}`],
		{encoding: 'utf8', env: {...process.env, PYTHONPATH: 'scripts'}}).trim();
}

test('a forged frame is the one that the lab\'s switch would send', () => {
	for (const payload of [PAYLOAD, PAYLOAD.subarray(0, 5), new Uint8Array()])
		assert.equal(hex(forge(LIKE, ADDRESSES, writeBody(WRITE, payload))), python(`print(bytes(switch.forge(
    Ether(bytes.fromhex('${hex(LIKE)}')), switch.Write(${WRITE.qpn}, ${WRITE.psn}, ${WRITE.va}, ${WRITE.rkey}),
    bytes.fromhex('${hex(payload)}'))).hex())`));
});

// A client's WRITE, as it would cross.
const write = psn => forge(LIKE, ADDRESSES, writeBody({...WRITE, psn}, PAYLOAD));
const psnOf = frame => frame[51] << 16 | frame[52] << 8 | frame[53];

test('who is told the numbers reads no packet, and tries behind each', () => {
	const third = new Forger('told'), encrypted = write(1);
	encrypted.set([0x88, 0xe5], 12);
	assert.equal(third.look(encrypted), null);
	for (const line of ['INIT -> RTR: dest_qp_num=0x000011, rq_psn=0x1', 'RTR -> RTS: sq_psn=0xffffff, retry_cnt=6',
		'[DEBUG] peer_mr.addr=0xb6c02000, peer_mr.rkey=0x188e'])
		third.hear(line);
	assert.deepEqual(told(third.lines), {qpn: 0x11, psn: 0xffffff, va: 0xb6c02000n, rkey: 0x188e});
	assert.equal(psnOf(third.look(encrypted)), 0);
	assert.equal(psnOf(third.look(encrypted)), 0);
	assert.equal(third.sent, 3);
});

test('who is told the numbers when the packet is past sends at once', () => {
	const third = new Forger('told'), encrypted = write(1);
	encrypted.set([0x88, 0xe5], 12);
	assert.equal(third.look(encrypted), null);
	assert.equal(third.hear('INIT -> RTR: dest_qp_num=0x000011, rq_psn=0x1'), null);
	assert.equal(third.hear('RTR -> RTS: sq_psn=0x4, retry_cnt=6'), null);
	assert.equal(psnOf(third.hear('[DEBUG] peer_mr.addr=0xb6c02000, peer_mr.rkey=0x188e')), 5);
	assert.equal(third.hear('a line behind that'), null);
	assert.equal(third.sent, 1);
});

// What the page's third party does in a run that was recorded: for each frame, whether it is
// dropped, and what is sent to the server and to the client.
function recorded(chapter, link) {
	const data = new Uint8Array(readFileSync(`${chapter}/expected/wire.pcapng`)), third = thirdParty(link);
	const seen = [...framesOf(data)].map(({bytes}) => [hex(bytes), hex(bytes.subarray(26, 30)) === 'c0000202']);
	const ours = seen.map(([frame, client]) => {
		const {drops, toServer, toClient} = third[client ? 'client' : 'server'](Buffer.from(frame, 'hex'));
		return [Boolean(drops), toServer ? hex(toServer) : null, toClient ? hex(toClient) : null];
	});
	return {third, seen, ours};
}

test('in a recorded run it forges what the lab\'s switch forges', () => {
	for (const link of ['open', 'nothing', 'badkey']) {
		const {seen, ours} = recorded('04_tls_psn', link);
		const theirs = python(`
party = switch.Forger('${link === 'open' ? 'bytes' : link}')
switch.print = lambda *_, **__: None
for frame in map(bytes.fromhex, ${JSON.stringify(seen.filter(x => x[1]).map(x => x[0]))}):
    own = party.behind(Ether(frame))
    if own:
        print(bytes(own).hex())`);
		assert.deepEqual(ours.flatMap(x => x[1] ?? []), [theirs], link);
	}
});

for (const [link, chapter, drops] of [['data', '05_multiclient', false], ['ack', '04_tls_psn', true],
	['nak', '04_tls_psn', false]])
	test(`${link}: the client is answered once, in the server's place`, () => {
		const {third, ours} = recorded(chapter, link), at = ours.findIndex(x => x[2]);
		assert.equal(third.sent, 1);
		assert.deepEqual(ours.filter(x => x[1] || x[2]).length, 1);
		assert.equal(ours[at][0], drops);
	});

test('rst: the server gets one segment that resets the connection', () => {
	const {third, ours} = recorded('04_tls_psn', 'rst'), sent = ours.flatMap(x => x[1] ?? []);
	assert.equal(third.sent, 1);
	assert.equal(sent.length, 1);
	assert.equal(Buffer.from(sent[0], 'hex')[47] & 0x04, 0x04);
});

test('dreq: one packet; and the client is not heard until the server has answered', () => {
	const {third, seen, ours} = recorded('02_write_read', 'dreq');
	assert.equal(third.sent, 1);
	const at = ours.findIndex(x => x[1]), dropped = ours.flatMap((x, i) => x[0] ? [i] : []);
	// In this run the server says DREP only at its end; until then none of the client's
	// packets passes, but what the CM says does.
	assert.ok(dropped.length > 3 && dropped.every(i => i > at && seen[i][1]));
	assert.ok(!dropped.some(i => Buffer.from(seen[i][0], 'hex')[42] === 0x64));
	const drep = Buffer.from(seen.find(([frame, client]) => !client && frame.slice(84, 86) === '64' &&
		frame.slice(156, 160) === '0016')[0], 'hex');
	const request = Buffer.from(seen[dropped[0]][0], 'hex');
	third.server(drep);
	assert.ok(!third.client(request).drops);
});

test('a request that comes before anything of the server\'s is kept, and its repetition answered', () => {
	const {seen} = recorded('05_multiclient', 'data'), third = thirdParty('data');
	const ask = seen.find(([frame, client]) => client && frame.slice(84, 86) === '0c')[0];
	const answer = seen.find(([frame, client]) => !client && frame.slice(84, 86) === '10')[0];
	const frame = Buffer.from(ask, 'hex');
	assert.deepEqual(third.client(frame), {drops: true});
	third.server(Buffer.from(answer, 'hex'));
	assert.ok(third.client(frame).toClient);
	assert.deepEqual(third.client(frame), {drops: false});
});

test('sweep: once both are connected, the packets that the lab\'s would send, whoever the client is', () => {
	const third = thirdParty('sweep');
	assert.equal(third.hear('both sides are READY.'), null);
	assert.equal(third.hear('INIT -> RTR: dest_qp_num=0x000013, rq_psn=0x1'), null);
	assert.deepEqual([third.client(write(1)), third.server(write(1))], [{}, {}]);
	const frames = third.hear('both sides are READY.');
	assert.equal(third.sent, 256);
	assert.equal(third.hear('both sides are READY.'), null);
	assert.deepEqual(frames.map(psnOf), [...Array(256).keys()].map(i => 0x5a0000 + i));
	assert.ok(frames.every(x => x[49] === 0x13));
});

test('what is encrypted gives no third party anything to forge', () => {
	for (const link of ['data', 'ack', 'nak', 'rst', 'dreq']) {
		const {seen} = recorded('02_write_read', 'dreq'), third = thirdParty(`${link} macsec`);
		for (const [frame, client] of seen) {
			const bytes = Buffer.from(frame, 'hex');
			bytes.writeUInt16BE(0x88e5, 12);
			const {drops, toServer, toClient} = third[client ? 'client' : 'server'](bytes);
			assert.ok(!drops && !toServer && !toClient);
		}
		assert.equal(third.sent, 0);
	}
});

test('a DREQ is cut from what Ethernet has appended', () => {
	const {seen, ours} = recorded('02_write_read', 'dreq'), at = ours.findIndex(x => x[1]);
	const rtu = Buffer.from(seen[at][0], 'hex'), padded = Buffer.concat([rtu, Buffer.alloc(4)]);
	assert.equal(hex(forgeDreq(padded, 0x11)), hex(forgeDreq(rtu, 0x11)));
});

test('each chapter has the links that fit, and each link a chapter', () => {
	const all = ['02_write_read', '03_pure_verbs', '04_tls_psn'].flatMap(linksOf);
	assert.deepEqual(linksOf('02_write_read'), ['dreq', 'dreq macsec']);
	assert.deepEqual(linksOf('01_send_recv'), []);
	assert.deepEqual(new Set(all), new Set(Object.keys(LINKS)));
});

test('the ICRC is that of a packet that a device has sent', () => {
	const {seen} = recorded('02_write_read', 'open');
	const frame = Buffer.from(seen.find(([x]) => x.slice(72, 76) === '12b7')[0], 'hex');
	const packet = frame.subarray(14, 14 + frame.readUInt16BE(16));
	assert.equal(icrc(packet.subarray(0, -4)), packet.readUInt32LE(packet.length - 4));
});
