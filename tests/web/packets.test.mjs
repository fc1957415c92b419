// The page says of each recorded capture what the recorded picture says (capture.test.mjs
// compares the fields with tshark's);
// and what it writes as a capture, it reads again.
import assert from 'node:assert/strict';
import {readFileSync, readdirSync, existsSync} from 'node:fs';
import test from 'node:test';
import {dissect, ipv6} from '../../web/page/packet.js';
import {Words, worthShowing} from '../../web/page/words.js';
import {framesOf} from '../../web/page/capture.js';
import {writePcapng} from '../../web/page/pcapng.js';
import {codeOf} from '../../web/page/code_of.js';
import {frame, reth} from './made.mjs';

const captures = readdirSync('.').filter(x => /^\d\d_/.test(x))
	.map(x => `${x}/expected/wire.pcapng`).filter(existsSync);

const read = path => [...framesOf(new Uint8Array(readFileSync(path)))];

function fromPage(frames) {
	const words = new Words();
	return frames.map(bytes => words.say(dissect(bytes))).filter(x => x.transport);
}

// The labels of the recorded picture, which cuts them.
const FITS = 79, SIGNS = {quot: '"', '#x27': "'", lt: '<', gt: '>', amp: '&'};
const fromPicture = path => [...readFileSync(path, 'utf8').matchAll(/class="small" text-anchor="middle">(.*?)<\/text>/g)]
	.map(([, label]) => label.replace(/&(.*?);/g, (_, sign) => SIGNS[sign]));

test('there are captures to compare with', () => assert.ok(captures.length >= 5));

for (const path of captures)
	test(`${path}: the words of the recorded picture`, () =>
		assert.deepEqual(fromPage(read(path).map(x => x.bytes)).filter(worthShowing)
			.map(({label}) => label.length > FITS ? `${label.slice(0, FITS - 1)}…` : label),
		fromPicture(path.replace('pcapng', 'svg'))));

test('what no capture here has: each acknowledgement, READs of each length, PSNs that wrap', () => {
	let server = 0;
	const send = (psn, back) => frame(4, [], {psn, server, back}), ask = (psn, length) => frame(12, reth(4096, 9, length), {psn, server});
	const answer = (opcode, psn, syndrome = 0, back = true) =>
		frame(opcode, opcode === 14 ? [] : [syndrome, 0, 0, 1], {psn, server, back});
	const runs = [
		() => [send(100), ...[0, 0x1f, 0x20, 0x2c, 0x60, 0x61, 0x62, 0x63, 0x64].map(x => answer(17, 100, x))],
		...[0, 1, 1023, 1024, 1025, 2048, 2049].map(n => () => [ask(100, n), ...[100, 101, 102, 103].map(x => send(x))]),
		() => [ask(0xffffff, 2049), ...[0, 1, 2, 1].map(x => send(x))],
		() => [0xffffff, 0, 0xffffff, 0x800000, 1].map(x => send(x)),
		() => [ask(500, 2049), answer(13, 500), answer(14, 501), answer(15, 502), send(7000, true), answer(17, 7000, 0, false),
			ask(503, 10), answer(16, 503)]];
	const frames = runs.flatMap(run => (server++, run())), said = fromPage(frames);
	assert.equal(said.length, frames.length);
	const short = said.map(({kind, mark, text, rel}) => [kind, mark, text, rel]);
	assert.deepEqual(short.slice(1, 10).map(x => x[2]), ['ACK', 'ACK', 'RNR NAK (timer 0)', 'RNR NAK (timer 12)',
		...['PSN Sequence Error', 'Invalid Request', 'Remote Access Error', 'Remote Operational Error', 'code 4'].map(x => `NAK (${x})`)]
		.map(x => `${x} MSN 1`));
	// What is sent with a PSN of the READ's answer is sent again: it had so many.
	assert.deepEqual([1, 1, 1, 1, 2, 2, 3], Array.from({length: 7}, (_, i) => short.slice(11 + 5 * i, 15 + 5 * i).filter(x => x[1]).length));
	assert.equal(short.slice(45, 55).map(x => `${x[3]}${x[1]}`).join(), '0,1again,2again,3,2again,0,1,0again,8388609,2again');
	assert.equal(short.slice(55).map(x => x[3]).join(), '0,0,1,2,0,0,3,3');
});

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
	assert.deepEqual([...framesOf(writePcapng(frames))], frames.map(x => ({...x, cut: 0})));
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
