// The wire of the page, without a page: what it does with a frame, and when.
import assert from 'node:assert/strict';
import test from 'node:test';
import {Wire} from '../../web/page/wire.js';

// An IPv4 frame with UDP in it, as far as the wire looks.
function frame(mark) {
	const bytes = new Uint8Array(60);
	bytes.set([0x08, 0x00], 12);
	bytes[23] = 17;
	bytes[59] = mark;
	return bytes;
}

function make(numbers = []) {
	const seen = {delivered: [], fates: [], holds: [], timers: []};
	const wire = new Wire({
		deliver: (to, bytes) => seen.delivered.push(`${to}${bytes[59]}`),
		onFrame: record => seen.fates.push(record.fate),
		onHold: holding => seen.holds.push(holding),
		now: () => 7, random: () => numbers.shift() ?? 0.99,
		later: (f, ms) => seen.timers.push({f, ms})});
	return {wire, seen};
}

test('what one node sends, the other gets', () => {
	const {wire, seen} = make();
	wire.send('a', frame(1));
	wire.send('b', frame(2));
	assert.deepEqual(seen.delivered, ['b1', 'a2']);
	assert.deepEqual(wire.records.map(x => x.fate), ['arrived', 'arrived']);
});

test('what is lost is not delivered, and the share that is asked for is lost', () => {
	const {wire, seen} = make([0.2, 0.4]);
	wire.set({loss: 0.3});
	wire.send('a', frame(1));
	wire.send('a', frame(2));
	assert.deepEqual(seen.delivered, ['b2']);
	assert.equal(wire.records[0].fate, 'lost');
});

test('a wire that is cut delivers nothing, and again once it is mended', () => {
	const {wire, seen} = make();
	wire.set({cut: true});
	wire.send('a', frame(1));
	wire.set({cut: false});
	wire.send('a', frame(2));
	assert.deepEqual(seen.delivered, ['b2']);
});

test('delay makes a frame late by that much', () => {
	const {wire, seen} = make();
	wire.set({delay: 40});
	wire.send('a', frame(1));
	assert.deepEqual(seen.delivered, []);
	assert.equal(seen.timers[0].ms, 40);
	seen.timers[0].f();
	assert.deepEqual(seen.delivered, ['b1']);
});

test('a duplicate arrives twice; what is overtaken comes after what was sent later', () => {
	const {wire, seen} = make([0.9, 0.1]);
	wire.set({duplicate: 0.5});
	wire.send('a', frame(1));
	assert.deepEqual(seen.delivered, ['b1', 'b1']);
	const other = make([0.9, 0.1, 0.9, 0.9]);
	other.wire.set({reorder: 0.5});
	other.wire.send('a', frame(1));
	other.wire.send('a', frame(2));
	other.seen.timers.forEach(x => x.f());
	assert.deepEqual(other.seen.delivered, ['b2', 'b1']);
});

test('held frames go one at a time, in their order; ARP is not held', () => {
	const {wire, seen} = make();
	const arp = frame(9);
	arp.set([0x08, 0x06], 12);
	wire.set({hold: true});
	wire.send('a', frame(1));
	wire.send('a', frame(2));
	wire.send('b', arp);
	assert.deepEqual(seen.delivered, ['a9']);
	assert.deepEqual(seen.holds, [true]);
	wire.step();
	assert.deepEqual(seen.delivered, ['a9', 'b1']);
	wire.step('drop');
	assert.deepEqual(seen.delivered, ['a9', 'b1']);
	assert.deepEqual(seen.holds, [true, false]);
	assert.equal(wire.step(), null);
});

test('when holding ends, all that waited arrives', () => {
	const {wire, seen} = make();
	wire.set({hold: true});
	[1, 2, 3].forEach(x => wire.send('a', frame(x)));
	wire.set({hold: false});
	assert.deepEqual(seen.delivered, ['b1', 'b2', 'b3']);
	assert.deepEqual(seen.holds, [true, false]);
});

test('a setting that makes no sense is refused, and says what there is', () => {
	const {wire} = make();
	assert.throws(() => wire.set({lost: 0.1}), /the wire has no lost; it has loss/);
	for (const wrong of [{loss: 2}, {loss: -1}, {loss: NaN}, {hold: 1}, {delay: '5'}])
		assert.throws(() => wire.set(wrong), RangeError);
	assert.equal(wire.settings.loss, 0);
});
