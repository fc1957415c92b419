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
	clock.limit = 1010;
	real += 500;
	assert.equal(clock.now(), 1010);
	clock.limit = 2000;
	assert.equal(clock.now(), 1010);
	real += 5;
	assert.equal(clock.now(), 1015);
});
