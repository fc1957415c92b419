// The front page's lab, without a browser: what is said of a run, what the lab costs,
// the one packet that is lost, labels on a narrow ladder.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import test from 'node:test';
import {dissect} from '../../web/page/packet.js';
import {Words} from '../../web/page/words.js';
import {framesOf} from '../../web/page/capture.js';
import {seen} from '../../web/page/seen.js';
import {CALL} from '../../web/page/door.js';
import {cost, unfit} from '../../web/page/fit.js';
import {linesOf} from '../../web/page/ladder.js';
import {Wire} from '../../web/page/wire.js';
import {layout} from '../../web/site/layout.mjs';
import {policyOf} from '../../web/site/csp.mjs';

const words = new Words();
const recorded = [...framesOf(new Uint8Array(readFileSync('01_send_recv/expected/wire.pcapng')))]
	.map(({bytes}) => ({...words.say(dissect(bytes)), bytes, fate: 'arrived'}));

test('what is said of a run is what crossed', () => {
	assert.match(seen(recorded), new RegExp(`^You have seen ${recorded.length} packets\\. First the connection`));
	assert.equal(seen(recorded.filter(x => !x.kind.startsWith('SEND'))), '');
	assert.equal(seen([]), '');
	assert.doesNotMatch(seen(recorded.filter(x => x.kind !== 'ReadyToUse')), /First the connection/);
});

test('a SEND that was lost and sent again is said to be, with its PSN', () => {
	const at = recorded.findIndex(x => x.kind === 'SEND Only'), send = recorded[at];
	const said = seen([...recorded.slice(0, at), {...send, fate: 'lost'},
		{...send, mark: 'again'}, ...recorded.slice(at + 1)]);
	assert.match(said, /^The SEND with the cross never arrived/);
	// Seen once, and not explained.
	assert.match(seen([...recorded.slice(0, at), {...send, fate: 'lost'}]), /did not send it again/);
	// Sent again though it was not lost, as happens on a slow machine.
	assert.match(seen([...recorded, {...send, mark: 'again'}]), /^You have seen/);
	assert.ok(said.includes(`0x${send.psn.toString(16).padStart(6, '0')}`), said);
});

test('the wire loses the one packet that was chosen, once', () => {
	const got = [], wire = new Wire({deliver: (to, bytes) => got.push(bytes[0])});
	wire.loseOnce(bytes => bytes[0] === 2);
	for (const byte of [1, 2, 2, 3])
		wire.send('a', Uint8Array.of(byte));
	assert.deepEqual(got, [1, 2, 3]);
	assert.deepEqual(wire.records.map(x => x.fate), ['arrived', 'lost', 'arrived', 'arrived']);
});

test('the cost is said, and more of it on a connection that counts', () => {
	assert.match(cost({}), /14 MB.*600 MB/);
	assert.doesNotMatch(cost({navigator: {connection: {}}}), /counts/);
	assert.match(cost({navigator: {connection: {saveData: true}}}), /counts/);
	assert.match(cost({navigator: {connection: {type: 'cellular'}}}), /counts/);
});

test('what cannot run the lab is named', () => {
	const world = {WebAssembly: {}, Worker() {}, navigator: {deviceMemory: 2}};
	assert.equal(unfit(world), '');
	assert.match(unfit({...world, WebAssembly: undefined}), /no WebAssembly/);
	assert.match(unfit({...world, Worker: undefined}), /no workers/);
	assert.match(unfit({...world, navigator: {deviceMemory: 1}}), /too little memory/);
});

test('a label has the lines of its row, none longer than fits, and loses nothing that fits', () => {
	for (const {label} of recorded) {
		assert.deepEqual(linesOf(label, {fits: 200, lines: 1}), [label]);
		const lines = linesOf(label, {fits: 48, lines: 2});
		assert.ok(lines.length <= 2 && lines.every(x => x.length <= 48), label);
		if (label.length <= 90)
			assert.equal(lines.join(' '), label);
	}
});

test('the front page has the button under its heading, and its policy is the lab\'s', () => {
	const page = {place: 'index.html', title: 'A', html: '<h1>A</h1>\n<p>b</p>', door: '01_send_recv'};
	const html = layout(page, {menu: [], order: [], name: 'A'});
	assert.match(html, /<h1>A<\/h1>\n<section class="door [^]*<button[^]*<p>b<\/p>/);
	assert.match(html, /<body data-door="01_send_recv">/);
	assert.ok(html.includes(policyOf({chapter: '01_send_recv'})));
	assert.doesNotMatch(layout({...page, door: undefined}, {menu: [], order: [], name: 'A'}), /door/);
});

test('what is to be changed is a line of first.c', () => {
	const lines = readFileSync(new URL('../../01_send_recv/first.c', import.meta.url), 'utf8').split('\n');
	assert.equal(lines.filter(x => CALL.test(x)).length, 1);
});
