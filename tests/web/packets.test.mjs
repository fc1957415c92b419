// The page says of each recorded capture what tshark and the recorded ladders say;
// and what it writes as a capture, it reads again.
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {readFileSync, readdirSync, existsSync} from 'node:fs';
import test from 'node:test';
import {dissect, ipv6} from '../../web/page/packet.js';
import {Words} from '../../web/page/words.js';
import {readPcapng, writePcapng} from '../../web/page/pcapng.js';
import {codeOf} from '../../web/page/code_of.js';

const captures = readdirSync('.').filter(x => /^\d\d_/.test(x))
	.map(x => `${x}/expected/wire.pcapng`).filter(existsSync);

const read = path => readPcapng(new Uint8Array(readFileSync(path)));

function fromPage(path) {
	const words = new Words();
	return read(path).map(({bytes}) => words.say(dissect(bytes))).filter(x => x.transport)
		.map(x => [x.src, x.dst, x.kind, x.mark, x.text, x.rel ?? ''].join('\t'));
}

function fromTshark(path) {
	const [head, ...rows] = execFileSync('scripts/lib/python.sh',
		['wire.packets', path], {encoding: 'utf8'})
		.trimEnd().split('\n').map(x => x.split('\t'));
	const at = ['src', 'dst', 'kind', 'mark', 'text', 'rel'].map(x => head.indexOf(x));
	return rows.map(row => at.map(i => row[i]).join('\t'));
}

test('there are captures to compare with', () => assert.ok(captures.length >= 5));

for (const path of captures)
	test(`${path}: the same packets in the same words`, () =>
		assert.deepEqual(fromPage(path), fromTshark(path)));

test('a frame that ends too early is said to be broken, at every length', () => {
	const [, {bytes}] = read(captures[0]);
	for (let size = 0; size < bytes.length - 4; size++)
		assert.ok(dissect(bytes.slice(0, size)).broken, `${size} bytes`);
});

test('what is sent again is marked so, a request and a message of the CM alike', () => {
	const words = new Words();
	const again = read(captures[0]).map(({bytes}) => {
		words.say(dissect(bytes));
		const {kind, mark} = words.say(dissect(bytes));
		return `${kind} ${mark}`;
	});
	assert.ok(again.includes('SEND Only again'));
	assert.ok(again.includes('ConnectRequest again'));
	assert.ok(again.includes('ACK '));
});

test('fields are inside the frame', () => {
	for (const {bytes} of read(captures[1]))
		for (const {at, size} of dissect(bytes).fields)
			assert.ok(at >= 0 && at + size <= bytes.length);
});

test('a capture that was written is read again', () => {
	const frames = [{time: 1_700_000_000_123.456, bytes: Uint8Array.of(1, 2, 3, 4, 5)},
		{time: 1_700_000_000_200, bytes: new Uint8Array(60)}];
	assert.deepEqual(readPcapng(writePcapng(frames)).map(x => [...x.bytes]),
		frames.map(x => [...x.bytes]));
	assert.throws(() => readPcapng(new Uint8Array(40)), RangeError);
});

test('IPv6 addresses are written the short way', () => {
	const bytes = (...words) => Uint8Array.from(words.flatMap(x => [x >> 8, x & 255]));
	assert.equal(ipv6(bytes(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1)), '2001:db8::1');
	assert.equal(ipv6(bytes(0, 0, 0, 0, 0, 0, 0, 1)), '::1');
	assert.equal(ipv6(bytes(0xfe80, 0, 0, 0, 1, 0, 0, 0)), 'fe80::1:0:0:0');
	assert.equal(ipv6(bytes(0, 0, 0, 0, 0, 0xffff, 0xc000, 0x201)), '::ffff:192.0.2.1');
});

// Whatever a program sends, and no kernel, device or library by itself. In 06 it is the
// kernel that sends all.
const OURS = /^((Connect|Disconnect)Re|ReadyToUse|SEND|RDMA (WRITE|READ Req)|Fetch and Add|Compare and Swap|TCP (text|FIN)|TLS (Client|Server|App))/;
const CHAPTERS = captures.map(x => x.split('/')[0]).filter(x => !x.startsWith('06'));

for (const chapter of CHAPTERS)
	test(`${chapter}: each packet has the line of code that sent it; what the device sends has none`, () => {
		const files = Object.fromEntries(['', 'carried/', 'plumbing/']
			.flatMap(x => existsSync(`${chapter}/${x}`) ? readdirSync(`${chapter}/${x}`).map(y => x + y) : [])
			.filter(x => /\.[ch]$/.test(x)).map(x => [x, readFileSync(`${chapter}/${x}`, 'utf8')]));
		const words = new Words();
		let sent = 0;
		for (const {bytes} of read(`${chapter}/expected/wire.pcapng`)) {
			const packet = words.say(dissect(bytes));
			if (!packet.transport)
				continue;
			const code = codeOf(packet, files);
			assert.equal(code !== null, OURS.test(packet.kind), packet.text);
			// Chapter 07: a header of a file is sent where files are, and nothing else is.
			if (chapter.startsWith('07') && packet.kind.startsWith('SEND'))
				assert.equal(code.file === 'stream.c', / [A-Z]{3}/.test(packet.text.slice(9)), packet.text);
			sent += code !== null;
		}
		assert.ok(sent >= 5, `${sent} packets`);
	});
