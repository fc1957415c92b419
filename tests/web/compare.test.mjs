// The comparison in the page says what scripts/compare_logs.sh says.
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import test from 'node:test';
import {Rules, addressDigits} from '../../web/page/compare/tokens.js';
import {compare} from '../../web/page/compare/compare.js';
import {expectedLogs, readCommands} from '../../web/site/logs.mjs';

const rules = new Rules(JSON.parse(execFileSync('/usr/bin/python3', ['-B', 'web/site/rules.py'])));
const folders = readdirSync('.').filter(x => /^\d\d_/.test(x)).flatMap(chapter =>
	['expected', 'break'].map(kind => join(chapter, kind)).filter(existsSync).flatMap(
		folder => readdirSync(folder).map(name => join(folder, name)))).filter(x => existsSync(join(x, 'commands')));

test('every recorded run matches itself', () => {
	assert.ok(folders.length >= 40);
	for (const folder of folders)
		assert.ok(compare(rules, expectedLogs(folder).files, expectedLogs(folder)).matches, folder);
});

const set = (files, races = '') => ({files, races});
const matches = (run, files, races) => compare(rules, run, set(files, races)).matches;

test('where pairs of programs talk, an address is one in each', () => {
	const run = (one, two, said = two) => ({'server1.log': `addr=${one}\n`, 'client1.log': `peer_mr.addr=${one}\n`,
		'server2.log': `addr=${two}\n`, 'client2.log': `peer_mr.addr=${said}\n`});
	assert.ok(matches(run('0x7', '0x7'), run('0x1', '0x2')));
	assert.ok(matches(run('0x1', '0x2'), run('0x7', '0x7')));
	assert.ok(!matches(run('0x7', '0x7', '0x8'), run('0x1', '0x2')));
	const alone = (one, two) => ({'server.log': '', 'client1.log': `addr=${one}\n`, 'client2.log': `addr=${two}\n`});
	assert.ok(!matches(alone('0x7', '0x7'), alone('0x1', '0x2')));
});

test('a block of lines may stand for one line: together, in their order, once', () => {
	const race = 'server.log: good + came + bad | bad\n';
	const log = (...lines) => ({'server.log': ['start', ...lines, 'end', ''].join('\n')});
	const files = log('bad', 'sent');
	assert.ok(!matches(log('good', 'came', 'bad', 'sent'), files));
	assert.ok(matches(log('good', 'came', 'bad', 'sent'), files, race));
	assert.ok(matches(files, log('good', 'came', 'bad', 'sent'), race));
	assert.ok(matches(files, files, race));
	for (const lines of [['good', 'bad'], ['came', 'good', 'bad'], ['good', 'came', 'bad', 'bad'], ['good', 'came'], []])
		assert.ok(!matches(log(...lines, 'sent'), files, race), lines.join());
	assert.ok(!matches(log('sent', 'good', 'came', 'bad'), files, race));
	assert.ok(!matches(log('good', 'came', 'bad', 'sent'), files, race.replace('server', 'client')));
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

// The same changes, made to runs by the same dice each time.
let seed = 4;
const dice = size => {
	seed = seed * 1103515245 + 12345 & 0x7fffffff;
	return (seed >> 8) % size;
};
const one = lines => dice(lines.length);
const edit = (regex, to) => lines => {
	const at = one(lines);
	lines[at] = lines[at].replace(regex, to);
};
const CHANGES = [
	lines => lines.splice(one(lines), 1),
	lines => lines.push(lines.shift()),
	lines => lines.splice(one(lines), 0, lines[one(lines)]),
	lines => {
		const at = dice(lines.length - 1);
		lines.splice(at, 2, lines[at + 1], lines[at]);
	},
	edit(/\d(?=\D*$)/, x => (Number(x) + 1) % 10),
	edit(/\d/, x => (Number(x) + 1) % 10),
	edit(/[a-z](?=\W*$)/, 'q'),
];
// And one that changes nothing: a number that is drawn is another one at both ends.
const draw = text => text.replaceAll(/(?<=PSN:? |psn=)0x[0-9a-f]{6}/g, x => `0x${x.slice(2, 4)}9${x.slice(5)}`);

// The statuses of compare_logs.sh, for lines of two folders.
const PYTHON = `
import contextlib, io, sys
from lib import compare_logs
for line in sys.stdin:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        status = compare_logs.main(line.split())
    print(status)
`;

test('both comparisons agree on runs that were changed', () => {
	const top = mkdtempSync(join(tmpdir(), 'web-compare-')), pairs = [];
	for (const folder of [...folders, 'tests/fixtures/compare_counts/expected', 'tests/fixtures/compare_logs/expected'])
		for (const change of [...CHANGES, null]) {
			const expected = expectedLogs(folder), files = {...expected.files}, run = join(top, `${pairs.length}`);
			const names = Object.keys(files).filter(x => x !== 'status.log' && files[x].includes('\n'));
			mkdirSync(run);
			const name = names[one(names)], lines = files[name].trimEnd().split('\n');
			change?.(lines);
			files[name] = lines.map(x => `${x}\n`).join('');
			for (const [file, text] of Object.entries(files))
				writeFileSync(join(run, file), files[file] = change ? text : draw(text));
			pairs.push({run, folder, matches: compare(rules, files, expected).matches});
		}
	const said = execFileSync('/usr/bin/python3', ['-B', '-c', PYTHON], {encoding: 'utf8',
		env: {...process.env, PYTHONPATH: 'scripts'}, input: pairs.map(x => `${x.run} ${x.folder}\n`).join('')}).trim().split('\n');
	pairs.forEach((x, i) => assert.equal(x.matches, said[i] === '0', `${x.folder} ${x.run}`));
	rmSync(top, {recursive: true});
	assert.ok(said.filter(x => x === '0').length > 100 && said.filter(x => x === '1').length > 500);
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
