// No time passes for a machine that is frozen.
import assert from 'node:assert/strict';
import test from 'node:test';
import {Clock} from '../../web/page/clock.js';

test('it stands still between stop and go, and loses nothing else', () => {
	let real = 1000;
	const clock = new Clock(() => real);
	assert.equal(clock.now(), 1000);
	clock.stop();
	real += 60_000;
	assert.equal(clock.now(), 1000);
	clock.stop();
	clock.go();
	real += 5;
	assert.equal(clock.now(), 1005);
	clock.go();
	assert.equal(clock.now(), 1005);
});

test('it goes on from the time that it is set to', () => {
	let real = 1000;
	const clock = new Clock(() => real);
	clock.set(50);
	real += 3;
	assert.equal(clock.now(), 53);
});

test('it goes no further than its limit, and does not jump when that moves on', () => {
	let real = 1000;
	const clock = new Clock(() => real);
	clock.raise(1005);
	clock.set(1000, 1010);
	real += 500;
	assert.equal(clock.now(), 1010);
	clock.raise(2000);
	assert.equal(clock.now(), 1010);
	real += 5;
	assert.equal(clock.now(), 1015);
});

test('at its limit it tells, and a millisecond goes all the same', () => {
	let told = 0, reads = 0, real = 0;
	const clock = new Clock(() => real += 20, () => told++);
	clock.set(0, 100);
	assert.ok(clock.tick() < 100);
	assert.equal(told, 0);
	real += 1000;
	// What v86 does while the machine has something to do.
	for (const from = clock.tick(); clock.tick() - from <= 1;)
		assert.ok(++reads < 10);
	assert.ok(told > 0);
	assert.ok(clock.now() < 110);
});

test('it never goes back, whatever limit it is given', () => {
	let real = 0;
	const clock = new Clock(() => real);
	clock.set(0, 10);
	real = 50;
	const before = [1, 2, 3].map(() => clock.tick()).at(-1);
	clock.raise(9);
	assert.ok(clock.tick() >= before);
});
