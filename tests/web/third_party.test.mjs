// The third party at the wire sends what scripts/lib/wiretap/ sends in the lab.
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import test from 'node:test';
import {forge, forgeDreq, icrc, writeBody} from '../../web/page/forge.js';
import {Forger, likely, thirdParty, told} from '../../web/page/third_party.js';
import {LINKS, linksOf} from '../../web/page/wiretap.js';

const LIKE = Uint8Array.from([2, 0, 0, 0, 2, 1, 2, 0, 0, 0, 2, 2, 8, 0]);
const ADDRESSES = [192, 0, 2, 2, 192, 0, 2, 1];
const WRITE = {qpn: 0x12, psn: 0xfffffe, va: 0x56167a0c000n, rkey: 0x80000706};
const PAYLOAD = new TextEncoder().encode('forged: neither of you wrote this\0');
const hex = bytes => Buffer.from(bytes).toString('hex');

function python(code) {
	return execFileSync('/usr/bin/python3', ['-B', '-S', '-c', `from lib.wiretap import parties, roce
${code}`],
		{encoding: 'utf8', env: {...process.env, PYTHONPATH: 'scripts'}}).trim();
}

test('a forged frame is the one that the lab\'s switch would send', () => {
	for (const payload of [PAYLOAD, PAYLOAD.subarray(0, 5), new Uint8Array()])
		assert.equal(hex(forge(LIKE, ADDRESSES, writeBody(WRITE, payload))), python(`print(roce.forge(
    bytes.fromhex('${hex(LIKE.subarray(0, 12))}'), bytes(${JSON.stringify(ADDRESSES)}),
    roce.write_body(roce.Write(${WRITE.qpn}, ${WRITE.psn}, ${WRITE.va}, ${WRITE.rkey}, 0),
        bytes.fromhex('${hex(payload)}'))).hex())`));
});

// A client's WRITE, as it would cross.
const write = psn => forge(LIKE, ADDRESSES, writeBody({...WRITE, psn}, PAYLOAD));
const psnOf = frame => frame[51] << 16 | frame[52] << 8 | frame[53];
const rkeyOf = frame => new DataView(frame.buffer).getUint32(62);

test('it sends once, behind the first WRITE, with the PSN that is next', () => {
	const third = new Forger('open'), other = write(7);
	other[42] = 4;
	assert.equal(third.look(other), null);
	assert.deepEqual(third.server(write(7)), {});
	assert.equal(psnOf(third.client(write(0xffffff)).toServer), 0);
	assert.equal(third.look(write(0)), null);
	assert.equal(third.sent, 1);
});

test('what it sends may be nothing, or have a wrong key', () => {
	assert.equal(rkeyOf(new Forger('badkey').look(write(1))), 0x80000786);
	const nothing = new Forger('nothing').look(write(1));
	assert.equal(rkeyOf(nothing), 0);
	assert.equal(nothing.length, 14 + 20 + 8 + 12 + 16 + 4);
});

test('who is told the numbers reads no packet, and tries behind each', () => {
	const third = new Forger('told'), encrypted = write(1);
	encrypted.set([0x88, 0xe5], 12);
	assert.equal(third.look(encrypted), null);
	for (const line of ['INIT -> RTR: dest_qp_num=0x000011, rq_psn=0x1', 'RTR -> RTS: sq_psn=0xffffff, retry_cnt=6',
		'[DEBUG] peer_mr.addr=0xb6c02000, peer_mr.rkey=0x188e'])
		third.hear(line);
	assert.deepEqual(told(third.lines), {qpn: 0x11, psn: 1, va: 0xb6c02000n, rkey: 0x188e});
	assert.equal(psnOf(third.look(encrypted)), 2);
	assert.equal(psnOf(third.look(encrypted)), 2);
	assert.equal(third.sent, 3);
});

test('who is told the numbers when the packet is past sends at once', () => {
	const third = new Forger('told'), encrypted = write(1);
	encrypted.set([0x88, 0xe5], 12);
	assert.equal(third.look(encrypted), null);
	assert.equal(third.hear('INIT -> RTR: dest_qp_num=0x000011, rq_psn=0x1'), null);
	assert.equal(third.hear('RTR -> RTS: sq_psn=0x4, retry_cnt=6'), null);
	assert.equal(psnOf(third.hear('[DEBUG] peer_mr.addr=0xb6c02000, peer_mr.rkey=0x188e')), 7);
	assert.equal(third.hear('a line behind that'), null);
	assert.equal(third.sent, 1);
});

// What the lab's third party does in a run that was recorded, and what the page's does:
// for each frame, whether it is dropped, and what is sent to the server and to the client.
function both(chapter, link) {
	const seen = JSON.parse(python(`
import json, struct
data = open('${chapter}/expected/wire.pcapng', 'rb').read()
party, at, out = parties.make('${link === 'open' ? 'bytes' : link}'), 0, []
print = lambda *_, **__: None
parties.print = print
while at < len(data):
    kind, length = struct.unpack_from('<II', data, at)
    if kind == 6:
        size = struct.unpack_from('<I', data, at + 20)[0]
        frame = data[at + 28:at + 28 + size]
        client = frame[26:30] == bytes([192, 0, 2, 2])
        act = (party.client_says if client else party.server_says)(frame)
        out.append([frame.hex(), client, not act.passes,
                    *(x and x.hex() for x in (act.to_server, act.to_client))])
    at += length
import sys
sys.stdout.write(json.dumps(out))`));
	const third = thirdParty(link);
	const ours = seen.map(([frame, client]) => {
		const {drops, toServer, toClient} = third[client ? 'client' : 'server'](Buffer.from(frame, 'hex'));
		return [Boolean(drops), toServer ? hex(toServer) : null, toClient ? hex(toClient) : null];
	});
	return {third, seen, ours, theirs: seen.map(x => x.slice(2))};
}

for (const [link, chapter] of Object.entries({open: '04_tls_psn', nothing: '04_tls_psn', badkey: '04_tls_psn',
	data: '05_multiclient', ack: '04_tls_psn', nak: '04_tls_psn', rst: '04_tls_psn'}))
	test(`${link}: in a recorded run it does what the lab's does`, () => {
		const {third, ours, theirs} = both(chapter, link);
		assert.equal(third.sent, 1);
		assert.deepEqual(ours, theirs);
	});

test('dreq: the same; and the client is not heard until the server has answered', () => {
	const {third, seen, ours, theirs} = both('02_write_read', 'dreq');
	assert.equal(third.sent, 1);
	assert.deepEqual(ours.map(x => x[1]), theirs.map(x => x[1]));
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
	const {seen} = both('05_multiclient', 'data'), third = thirdParty('data');
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
	assert.deepEqual(frames.map(x => hex(x.subarray(14))), python(`
from lib.wiretap import sweep
for packet in sweep.packets(bytes(${JSON.stringify(ADDRESSES)}), 0x13, 0x5a0000, 256):
    print(packet.hex())`).split('\n'));
});

test('what is encrypted gives no third party anything to forge', () => {
	for (const link of ['data', 'ack', 'nak', 'rst', 'dreq']) {
		const {seen} = both('02_write_read', 'dreq'), third = thirdParty(`${link} macsec`);
		for (const [frame, client] of seen) {
			const bytes = Buffer.from(frame, 'hex');
			bytes.writeUInt16BE(0x88e5, 12);
			const {drops, toServer, toClient} = third[client ? 'client' : 'server'](bytes);
			assert.ok(!drops && !toServer && !toClient);
		}
		assert.equal(third.sent, 0);
	}
});

test('likely bytes are the lab\'s', () => {
	for (const length of [1, 33, 34, 1024])
		assert.equal(hex(likely(length)).length, 2 * length);
	assert.equal(hex(likely(1024)), python('print(parties.likely(1024).hex())'));
});

test('a DREQ is cut from what Ethernet has appended', () => {
	const {seen, ours} = both('02_write_read', 'dreq'), at = ours.findIndex(x => x[1]);
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
	const [packet, sum] = python(`
import glob, struct
data = open(sorted(glob.glob('02_write_read/expected/wire.pcapng'))[0], 'rb').read()
at = 0
while at < len(data):
    kind, length = struct.unpack_from('<II', data, at)
    if kind == 6:
        size = struct.unpack_from('<I', data, at + 20)[0]
        frame = data[at + 28:at + 28 + size]
        if roce.is_roce(frame):
            packet = roce.packet_of(frame)
            print(packet[:-4].hex(), packet[-4:][::-1].hex())
            break
    at += length`).split(' ');
	assert.equal(icrc(Buffer.from(packet, 'hex')).toString(16).padStart(8, '0'), sum);
});
