// What the page says of a capture costs time in proportion to it, whoever made it.
import assert from 'node:assert/strict';
import test from 'node:test';
import {noReads} from '../../web/page/story_agreed.js';

const REPLIES = 40_000;
const reply = {kind: 'ConnectReply', responderResources: 0, src: '192.0.2.1', dst: '192.0.2.2'};
const request = {kind: 'ConnectRequest', initiatorDepth: 4, src: '192.0.2.2', dst: '192.0.2.1'};

test('40,000 ConnectReplies without a request are told in no time', () => {
	const begin = process.cpuUsage().user;
	assert.deepEqual([...noReads(Array(REPLIES).fill(reply))], []);
	assert.ok(process.cpuUsage().user - begin < 2e6);
});

test('a reply belongs to the last request of its two hosts', () => {
	const none = {...request, initiatorDepth: 0}, other = {...request, src: '192.0.2.3'};
	assert.equal([...noReads([request, other, reply])].length, 1);
	assert.deepEqual([...noReads([request, none, reply, other, reply])], []);
	assert.deepEqual([...noReads([reply, request])], []);
});
