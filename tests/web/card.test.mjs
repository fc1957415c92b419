// What crosses the wire is not lost for want of room in the card.
import assert from 'node:assert/strict';
import test from 'node:test';
import {Card, RECEIVED, hasRoom} from '../../web/page/card.js';

const PAGE = 256;

// A card as v86 has it: it loses what does not fit. take(n): the machine reads.
function model() {
	const ring = {pstart: 0x4c, pstop: 0x80, curpg: 0x4d, boundary: 0x4c, isr: 0};
	const next = (at, pages) => {
		const to = at + pages;
		return to >= ring.pstop ? to - ring.pstop + ring.pstart : to;
	};
	const held = [], got = [], timers = [];
	const interrupt = () => { ring.isr |= RECEIVED; };
	const give = frame => {
		const pages = 1 + (Math.max(60, frame.length) + 4 >> 8);
		const {pstart, pstop, curpg, boundary} = ring;
		if ((boundary > curpg ? boundary - curpg : pstop - curpg + boundary - pstart) < pages)
			return;
		ring.curpg = next(curpg, pages);
		// A ring that is full to the last page looks empty.
		if (ring.curpg === boundary)
			held.length = 0;
		held.push({frame, pages});
		interrupt();
	};
	const take = () => {
		const {frame, pages} = held.shift();
		got.push(frame[0]);
		ring.boundary = next(ring.boundary, pages);
	};
	const card = new Card(() => ring, give, interrupt, f => timers.push(f));
	return {card, ring, held, got, take, timers};
}

test('more packets than the ring has room for all arrive, in their order', () => {
	const {card, held, got, take, timers} = model();
	const sizes = [1100, 60, 300, 1514, 70];
	for (let i = 0; i < 200; i++)
		card.receive(new Uint8Array(sizes[i % sizes.length]).fill(i));
	assert.ok(held.length < 60);
	while (held.length || timers.length) {
		if (held.length)
			take();
		timers.splice(0).forEach(f => f());
	}
	assert.deepEqual(got, [...Array(200).keys()]);
});

test('a machine that takes nine packets at an interrupt is interrupted until it has all', () => {
	const {card, ring, held, got, take, timers} = model();
	for (let i = 0; i < 30; i++)
		card.receive(new Uint8Array(120).fill(i));
	while (ring.isr || timers.length) {
		if (ring.isr)
			for (let n = 0; n < 9 && held.length; n++)
				take();
		ring.isr = 0;
		timers.splice(0).forEach(f => f());
	}
	assert.deepEqual(got, [...Array(30).keys()]);
});

test('one timer waits, however many packets do', () => {
	const {card, timers} = model();
	for (let i = 0; i < 100; i++)
		card.receive(new Uint8Array(1100));
	assert.equal(timers.length, 1);
});

test('room is counted in pages', () => {
	const ring = {pstart: 0x40, pstop: 0x80, curpg: 0x50, boundary: 0x53};
	assert.ok(hasRoom(ring, PAGE - 5));
	assert.ok(!hasRoom(ring, PAGE - 4));
	assert.ok(hasRoom({...ring, boundary: 0x4f}, 1514));
});
