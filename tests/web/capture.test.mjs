// Captures of others: read in every form, field by field as tshark reads them; what
// happened in them is named, nothing is in the logged runs; no file does any harm.
import assert from 'node:assert/strict';
import {execFileSync, spawnSync} from 'node:child_process';
import {existsSync, mkdtempSync, readFileSync, readdirSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import test, {after} from 'node:test';
import {asEthernet, framesOf} from '../../web/page/capture.js';
import {dissect} from '../../web/page/packet.js';
import {openCapture} from '../../web/page/open_capture.js';
import {agrees, asked, tshark} from './tshark.mjs';
import {rdsText} from '../../web/page/rds.js';
import {fileOf, rows, verdict} from './causes.mjs';
import {frame, pcap, reth} from './made.mjs';

const folder = mkdtempSync(join(tmpdir(), 'capture-'));
after(() => rmSync(folder, {recursive: true}));
const read = path => new Uint8Array(readFileSync(path));
const LOGGED = readdirSync('.').filter(x => /^\d\d_/.test(x)).map(x => `${x}/expected/wire.pcapng`);
const BROKEN = 'tests/fixtures/captures';

test('tshark knows the fields that are compared', () => assert.ok(asked.length > 20, asked.map(x => x[0]).join()));

for (const [path, said] of Object.entries(tshark([...LOGGED, ...readdirSync(BROKEN).map(x => `${BROKEN}/${x}`)])))
	test(`${path}: field by field as tshark has it`, () => assert.ok(agrees(path, said) > 10));

const counting = n => Array.from({length: n}, (_, i) => i + 1);
test('atomics, immediates and datagrams, which no capture here has, as tshark has them', async () => {
	const {writeFileSync} = await import('node:fs'), path = join(folder, 'made.pcap');
	writeFileSync(path, pcap([frame(19, counting(28)), frame(20, counting(28)), frame(18, counting(12)),
		frame(3, counting(8)), frame(11, counting(24)), frame(0x64, counting(16)), frame(0x65, counting(16)), frame(22, counting(8))]));
	assert.ok(agrees(path) > 30);
});

test('a capture is read in each byte order and unit, and in pcapng as editcap writes it', () => {
	const plain = [...framesOf(read(LOGGED[0]))], whole = plain.map(x => [...x.bytes]);
	for (const little of [true, false])
		for (const nano of [true, false]) {
			const again = [...framesOf(pcap(plain.map(x => x.bytes), {little, nano}))];
			assert.deepEqual(again.map(x => [...x.bytes]), whole);
			assert.equal(again[0].time, 1_700_000_000_500);
		}
	for (const kind of ['pcap', 'nsecpcap', 'pcapng']) {
		const path = join(folder, `a.${kind}`);
		execFileSync('editcap', ['-F', kind, LOGGED[0], path], {stdio: 'ignore'});
		const again = [...framesOf(read(path))];
		assert.deepEqual(again.map(x => [...x.bytes]), whole);
		again.forEach((x, i) => assert.ok(Math.abs(x.time - plain[i].time) < 0.002, `${kind} ${i}`));
	}
});

test('a packet that is longer than its block, or than the file, is where the reading ends', () => {
	const bytes = Buffer.from(read(LOGGED[0])), view = new DataView(bytes.buffer, bytes.byteOffset);
	let at = 0;
	while (view.getUint32(at, true) !== 6)
		at += view.getUint32(at + 4, true);
	view.setUint32(at + 20, view.getUint32(at + 4, true), true);
	assert.match(openCapture(bytes).trouble, /^it says that a packet has \d+ bytes/);
	const old = Buffer.from(pcap([frame(4, [])], {little: true, nano: false}));
	old.writeUInt32LE(1000, 24 + 8);
	assert.match(openCapture(old).trouble, /^it says that a packet has 1000 bytes, at byte 24/);
});

test('a tag is taken away, and what has no Ethernet gets some', () => {
	const bytes = frame(4, [1, 2, 3, 4]), ip = bytes.subarray(14);
	const tagged = Uint8Array.from([...bytes.subarray(0, 12), 0x81, 0, 0, 5, 8, 0, ...ip]);
	const cooked = Uint8Array.from([...new Uint8Array(14), 8, 0, ...ip]);
	for (const frameOf of [asEthernet(1, tagged), asEthernet(101, ip), asEthernet(113, cooked)])
		assert.equal(dissect(frameOf).psn, 0x010203);
	assert.equal(asEthernet(250, ip), null);
});

for (const path of LOGGED)
	test(`${path}: nothing is said to be wrong`, () => {
		const {found, packets, trouble} = openCapture(read(path));
		assert.deepEqual({found, trouble}, {found: [], trouble: ''});
		assert.ok(packets);
	});

test('of each case, the table says what a capture shows, and whether that is said', () => {
	const cases = readdirSync('.').filter(x => /^\d\d_/.test(x)).flatMap(x => readdirSync(`${x}/break`)
		.map(y => `${x}/${y}`)).filter(x => existsSync(`${x}/commands`.replace('/', '/break/')));
	assert.deepEqual(rows.map(x => x.name), cases.sort());
	const seen = rows.filter(x => ['cause', 'missed'].includes(x.kind));
	assert.ok(seen.filter(x => x.kind === 'cause').length >= 0.9 * seen.length);
});

// A sample of them; tests/long/test_captures.py captures all, anew.
const sample = rows.filter(x => existsSync(`${BROKEN}/${fileOf(x)}.pcapng`));
test('the captures of cases are of cases', () => assert.equal(sample.length, readdirSync(BROKEN).length));
for (const row of sample)
	test(`${row.name}: what is wrong is named, with a place that explains it`, () => {
		const capture = read(`${BROKEN}/${fileOf(row)}.pcapng`);
		assert.equal(verdict(row, [capture]), '');
		for (const {place} of openCapture(capture).found) {
			const [page, anchor] = place.replace('index.html', 'README.md').split('#');
			const text = readFileSync(page.replace('.html', '.md'), 'utf8');
			assert.ok(!anchor || text.includes(`<a id="${anchor}"></a>`), `${place}: there is no such entry`);
		}
	});

// A capture of frames that come a millisecond apart, opened.
const opened = frames => openCapture(pcap(frames)).found;

test('a WRITE to what is still being read is told, and one after the answer is not', () => {
	const ask = frame(12, reth(4096, 9, 64)), next = frame(10, [...reth(4100, 9, 4), 1, 2, 3, 4]);
	next[53]++;
	const answer = frame(16, [0, 0, 0, 1, ...counting(64)]);
	for (const at of [26, 30])
		answer.set(ask.subarray(at === 26 ? 30 : 26, at === 26 ? 34 : 30), at);
	assert.match(JSON.stringify(opened([ask, next])), /still reading, once: the READ’s answer had not come/);
	assert.doesNotMatch(JSON.stringify(opened([ask, answer, next])), /still reading/);
});

test('what nobody acknowledges is told, and what the answers to it say', () => {
	const sent = Array(7).fill(frame(10, [...reth(4096, 9, 4), 1, 2, 3, 4]));
	const answers = (syndrome, psn) => sent.flatMap(x => [x, frame(17, [syndrome, 0, 0, 1], {psn, back: true})]);
	for (const [frames, words] of [[sent, 'and nothing acknowledged it: no such queue pair'],
		[answers(0, 0x010203), 'though it was acknowledged: to queue pair 0x000011'],
		[answers(0, 0x010202), 'each time the answer acknowledged another PSN (0x010202)'],
		[answers(0x60, 0x010207), 'the receiver expects PSN 0x010207, as its NAK']])
		assert.ok(opened(frames).some(x => x.bad && x.text.includes(`7 times, `) && x.text.includes(words)), words);
});

test('one PSN or one key for several queue pairs is told, and one for each is not', () => {
	const write = (qp, psn, rkey, back) => frame(10, [...reth(4096, rkey, 4), 1, 2, 3, 4], {qp, psn, back});
	const [keys, psns] = opened([write(17, 100, 9), write(17, 101, 9), write(18, 100, 9), write(19, 100, 10, true)]).map(x => x.text);
	assert.match(psns, /begin with the same PSN, 0x000064, on 3 queue pairs/);
	assert.match(keys, /0x000011 and 0x000012, were asked with the same rkey, 0x9\. If both may use it, they share/);
	assert.deepEqual(opened([write(17, 100, 9), write(18, 101, 10)]), []);
});

// A header of RDS with its checksum, and a congestion map that marks one port.
function map(port) {
	const out = new Uint8Array(48 + 600), view = new DataView(out.buffer);
	view.setUint32(16, 8192);
	out[24] = 1;
	let sum = 0;
	for (let at = 0; at < 48; at += 2)
		sum += view.getUint16(at);
	view.setUint16(30, ~sum);
	out[48 + (port >> 3)] = 1 << (port & 7);
	return [...out];
}
test('a port that RDS calls congested is named; what has no checksum is no RDS', () => {
	assert.match(JSON.stringify(opened([frame(0, map(4000))])), /port 4000 is congested/);
	assert.deepEqual(opened([frame(0, map(4000).map((x, at) => at === 7 ? 1 : x))]), []);
});

test('RDS’s messages are read, over the device and over TCP', () => {
	for (const path of [LOGGED.find(x => x.startsWith('06')), `${BROKEN}/06_rds.nobody.pcapng`]) {
		const seen = openCapture(read(path)).entries.flatMap(({packet}) => (packet.rds ?? []).map(rdsText));
		assert.ok(seen.length > 5);
		assert.match(seen.join('\n'), /^RDS seq 0 ack 0 len 8192 port 0 > 0 \(congestion map\)$[^]*port \d+ > 0 \(ping/m);
	}
});

test('a loss that was mended is told, and is not called wrong', () => {
	const frames = [...framesOf(read(LOGGED[0]))].map(x => x.bytes);
	const at = frames.findIndex(x => dissect(x).opcode === 4 && dissect(x).transport === 'roce');
	const {found} = openCapture(pcap([...frames.slice(0, at), frames[at], ...frames.slice(at)]));
	assert.deepEqual(found.map(x => x.bad), [false]);
	assert.match(found[0].text, /sent 1 packet again.*then one came/);
});

test('scripts/wire.sh --read says the same in a terminal', () => {
	const say = path => spawnSync('scripts/wire.sh', ['--read', path], {encoding: 'utf8'});
	const bad = `${BROKEN}/02_write_read.four_mistakes.pcapng`, {status, stdout} = say(bad);
	assert.equal(status, 1);
	const {entries, found} = openCapture(read(bad));
	for (const {packet} of entries)
		assert.ok(stdout.includes(packet.label), packet.label);
	for (const {text} of found)
		assert.ok(stdout.includes(`! ${text}\n  docs/troubleshooting/`), stdout);
	assert.equal(say(LOGGED[0]).status, 0);
	assert.match(say('README.md').stderr, /neither pcap nor pcapng/);
	assert.match(say('nowhere').stderr, /nowhere cannot be read/);
	assert.equal(spawnSync('scripts/wire.sh', ['--read']).status, 2);
});

// A generator of numbers that is the same in each run.
function numbers(seed) {
	return () => (seed = Math.imul(seed, 1664525) + 1013904223 >>> 0) / 2 ** 32;
}

test('ten thousand files that were changed at random neither hang nor throw', () => {
	const random = numbers(26), whole = [...LOGGED.slice(0, 3).map(read), pcap([...framesOf(read(LOGGED[3]))].map(x => x.bytes))];
	let slowest = 0;
	for (let i = 0; i < 10_000; i++) {
		const bytes = whole[i % whole.length].slice(0, i % 3 ? undefined : Math.floor(random() * 4000));
		for (let n = 1 + Math.floor(random() * 20); n; n--)
			bytes[Math.floor(random() * bytes.length)] = random() < 0.3 ? 255 : Math.floor(random() * 256);
		const began = performance.now(), opened = openCapture(bytes);
		slowest = Math.max(slowest, performance.now() - began);
		assert.ok(opened.found.every(x => typeof x.text === 'string' && x.place.startsWith('docs/')));
	}
	// Each takes a millisecond; a second is for a machine that does something else, too.
	assert.ok(slowest < 5000, `${slowest} ms`);
});
