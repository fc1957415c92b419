// The comparison in the page says what scripts/compare_logs.sh says.
import assert from 'node:assert/strict';
import {execFileSync, spawnSync} from 'node:child_process';
import {existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import test from 'node:test';
import {Rules, addressDigits} from '../../web/page/compare/tokens.js';
import {compare} from '../../web/page/compare/compare.js';
import {expectedSets, readCommands} from '../../web/site/logs.mjs';

const rules = new Rules(JSON.parse(execFileSync('/usr/bin/python3', ['-B', 'web/site/rules.py'])));
const folders = readdirSync('.').filter(x => /^\d\d_/.test(x)).flatMap(chapter =>
	['expected', 'break'].map(kind => join(chapter, kind)).filter(existsSync).flatMap(
		folder => readdirSync(folder).map(name => join(folder, name)))).filter(x => existsSync(join(x, 'commands')));

test('every recorded run matches itself', () => {
	assert.ok(folders.length >= 40);
	for (const folder of folders)
		for (const {files} of expectedSets(folder))
			assert.ok(compare(rules, files, expectedSets(folder)).matches, folder);
});

const set = (files, races = '') => [{name: '', files, races}];
const matches = (run, files, races) => compare(rules, run, set(files, races)).matches;

test('numbers may differ, but must hang together on both ends', () => {
	const files = {'server.log': 'local: QPN 0x11, PSN 0xabc\n', 'client.log': 'remote: QPN 0x11, PSN 0xabc\n'};
	assert.ok(matches({'server.log': 'local: QPN 0x15, PSN 0x123\n',
		'client.log': 'remote: QPN 0x15, PSN 0x123\n'}, files));
	assert.ok(!matches({'server.log': 'local: QPN 0x15, PSN 0x123\n',
		'client.log': 'remote: QPN 0x15, PSN 0x124\n'}, files));
});

test('where pairs of programs talk, an address is one in each', () => {
	const run = (one, two, said = two) => ({'server1.log': `addr=${one}\n`, 'client1.log': `peer_mr.addr=${one}\n`,
		'server2.log': `addr=${two}\n`, 'client2.log': `peer_mr.addr=${said}\n`});
	assert.ok(matches(run('0x7', '0x7'), run('0x1', '0x2')));
	assert.ok(matches(run('0x1', '0x2'), run('0x7', '0x7')));
	assert.ok(!matches(run('0x7', '0x7', '0x8'), run('0x1', '0x2')));
	const alone = (one, two) => ({'server.log': '', 'client1.log': `addr=${one}\n`, 'client2.log': `addr=${two}\n`});
	assert.ok(!matches(alone('0x7', '0x7'), alone('0x1', '0x2')));
});

test('only a declared race may change the order', () => {
	const files = {'server.log': 'one\ntwo\n'}, run = {'server.log': 'two\none\n'};
	assert.ok(!matches(run, files));
	assert.ok(matches(run, files, 'server.log: one <> two\n'));
	assert.ok(!matches({'server.log': 'two\n'}, files, 'server.log: one <> two\n'));
	assert.ok(!matches(run, files, 'server.log: one <> 1\nserver.log: two <> 2\n'));
});

test('a number that counts is checked where its line stands', () => {
	const race = 'server.log: state={n} counts sent\n';
	assert.ok(matches({'server.log': 'sent\nstate=1\n'}, {'server.log': 'sent\nstate=1\n'}, race));
	assert.ok(!matches({'server.log': 'sent\nstate=2\n'}, {'server.log': 'sent\nstate=1\n'}, race));
});

test('lines that mean another are read as it: together, in their order, once', () => {
	const race = 'server.log: {a}, bad, {b} + but it has come means {a}, good, {b}\n';
	const good = 'wr_id=0x7, good, state=1', bad = 'wr_id=0x7, bad, state=1', came = 'but it has come';
	const log = (...lines) => ({'server.log': ['start', ...lines, 'conn=0x7', 'end', ''].join('\n')});
	const files = {'server.log': log(good, 'sent')['server.log'].replaceAll('0x7', '0x1')};
	assert.ok(!matches(log(bad, came, 'sent'), files));
	assert.ok(matches(log(bad, came, 'sent'), files, race));
	assert.ok(matches(files, log(bad, came, 'sent'), race));
	assert.ok(matches(log(good, 'sent'), files, race));
	for (const lines of [[bad], [good, came], [came], [came, bad], [bad, came, came],
		[bad, came, bad, came], [bad, came, good], [bad.replace('=1', '=2'), came],
		[bad.replace('0x7', '0x8'), came]])
		assert.ok(!matches(log(...lines, 'sent'), files, race), lines.join());
	assert.ok(!matches(log(bad, 'sent', came), files, race));
	assert.ok(!matches(log('sent', bad, came), files, race));
	assert.ok(!matches(log(bad, came, 'sent'), files, race.replace('server', 'client')));
	for (const wrong of ['means *', 'means a + b', 'means {new}', '+ {b} means {b}'])
		assert.throws(() => matches(files, files, `server.log: {a} ${wrong}\n`), SyntaxError);
});

test('a log that is missing is said', () => {
	assert.match(compare(rules, {}, set({'client.log': 'x\n'})).trouble, /no client.log/);
});

test('what differs is shown as lines of either run', () => {
	const {differences} = compare(rules, {'a.log': 'one\nthree\n'}, set({'a.log': 'one\ntwo\n'}));
	assert.deepEqual(differences, [{name: 'a.log',
		lines: [[' ', 'one'], ['-', 'two'], ['+', 'three']]}]);
});

test('one address is one, however it is written', () => {
	assert.equal(addressDigits('::ffff:192.0.2.1'), addressDigits('192.0.2.1'));
	assert.equal(addressDigits('fe80::1'), addressDigits('FE80:0:0:0:0:0:0:1'));
	assert.equal(addressDigits('::'), '');
	assert.equal(addressDigits('0.0.0.0'), '');
	assert.equal(addressDigits('1.2.3.256'), null);
	assert.equal(addressDigits('1:2'), null);
});

// The same faults, put into runs by the same dice each time.
let seed = 4;
const dice = size => {
	seed = seed * 1103515245 + 12345 & 0x7fffffff;
	return (seed >> 8) % size;
};
const FAULTS = [
	lines => lines.splice(dice(lines.length), 1),
	lines => lines.push(lines.shift()),
	lines => {
		const at = dice(lines.length);
		lines[at] = lines[at].replace(/\d(?=\D*$)/, x => (Number(x) + 1) % 10);
	},
];

test('both comparisons agree on runs with faults in them', () => {
	const run = mkdtempSync(join(tmpdir(), 'web-compare-'));
	let differ = 0;
	for (const [i, folder] of folders.entries()) {
		if (i % 3)
			continue;
		const sets = expectedSets(folder), files = {...sets[0].files};
		const [name] = Object.keys(files).filter(x => x !== 'status.log' && files[x]);
		const lines = files[name].trimEnd().split('\n');
		FAULTS[dice(FAULTS.length)](lines);
		files[name] = lines.map(x => `${x}\n`).join('');
		rmSync(run, {recursive: true});
		mkdirSync(run);
		for (const [file, text] of Object.entries(files))
			writeFileSync(join(run, file), text);
		const {status} = spawnSync('scripts/compare_logs.sh', [run, folder]);
		assert.equal(compare(rules, files, sets).matches, status === 0, `${folder} ${name}`);
		differ += status === 1;
	}
	rmSync(run, {recursive: true});
	assert.ok(differ >= 5);
});

test('commands are read as pair.sh reads them', () => {
	const {programs, title} = readCommands('01_send_recv/expected/default/commands');
	assert.ok(title);
	assert.deepEqual(programs[0], {label: 'server', command: './server -1', waits: true});
});

test('a megabyte of digits, of blanks or of escapes in one line costs no more than seconds', () => {
	for (const text of ['1', ' ', '\x1b[31m']) {
		const line = `error: ${text.repeat(1e6 / text.length)}x\n`, begin = process.cpuUsage().user;
		assert.ok(matches({'client.log': line}, {'client.log': line}));
		assert.ok(!matches({'client.log': line}, {'client.log': 'hello\n'}));
		assert.ok(process.cpuUsage().user - begin < 10e6, JSON.stringify(text));
	}
});
