// What else of the page needs no browser.
import assert from 'node:assert/strict';
import test from 'node:test';
import {edits, forget, keep} from '../../web/page/store.js';
import {logsOf} from '../../web/page/runs.js';
import {nodeUp} from '../../web/page/node_up.js';
import {Storage} from './storage.mjs';

test('an edit is kept until it is undone or forgotten, each chapter by itself', () => {
	const storage = new Storage();
	keep('01', 'client.c', 'mine', 'theirs', storage);
	keep('02', 'client.c', 'other', 'theirs', storage);
	assert.deepEqual(edits('01', storage), {'client.c': 'mine'});
	keep('01', 'client.c', 'theirs', 'theirs', storage);
	assert.deepEqual(edits('01', storage), {});
	keep('01', 'data.c', 'mine', 'theirs', storage);
	forget('02', storage);
	assert.deepEqual(edits('02', storage), {});
	assert.deepEqual(edits('01', storage), {'data.c': 'mine'});
});

test('the logs of a run are those that pair.sh would leave', () => {
	const programs = new Map([
		['server', {label: 'server', out: ['a', 'b'], err: [], status: 0}],
		['client', {label: 'client', out: [], err: ['error: no'], status: 1}]]);
	assert.deepEqual(logsOf(programs), {'server.log': 'a\nb\n', 'client.log': '',
		'client.err': 'error: no\n', 'status.log': 'server: exit status 0\nclient: exit status 1\n'});
});

test('the two nodes have different addresses, and each knows the other', () => {
	assert.match(nodeUp(1, 5, 'ab'), /addr add 192\.0\.2\.1\/24.*neigh replace 192\.0\.2\.2 lladdr 02:00:00:00:02:02/s);
	assert.match(nodeUp(2, 5, 'ab'), /addr add 192\.0\.2\.2\/24.*neigh replace 192\.0\.2\.1 lladdr 02:00:00:00:02:01/s);
});
