// What the page says of an error line, or of a log: what scripts/explain.py says; and the
// guesses that a browser keeps.
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {readFileSync, readdirSync} from 'node:fs';
import test from 'node:test';
import {Explainer, explain, lookUp} from '../../web/page/explain.js';
import {guess, guessOf, judge, score} from '../../web/page/guesses.js';
import {Storage} from './storage.mjs';

const data = JSON.parse(execFileSync('/usr/bin/python3', ['-B', 'web/site/explained.py'], {encoding: 'utf8', maxBuffer: 1e8}));
const entries = Object.values(data.entries);
const RUNS = ['expected', 'break'].flatMap(kind => readdirSync('.').filter(x => /^\d\d_/.test(x)).flatMap(x =>
	readdirSync(`${x}/${kind}`, {recursive: true}).filter(y => /\.(log|err)$/.test(y)).map(y => `${x}/${kind}/${y}`)));
const LINES = readFileSync('tests/fixtures/explain.tsv', 'utf8').split('\n').filter(x => x && x[0] !== '#').map(x => x.split('\t')[2]);

// Each line of the input: the anchor that explain.py finds, and how sure it is.
const PYTHON = `
import json
import sys
import explain
table = explain.Table()
for line in sys.stdin.read().split('\\n'):
    hit = table.look_up(line)
    print(json.dumps([explain.SURE[hit.sure], *(f'{e.anchor}: {why}' for e, why in hit.found)], ensure_ascii=False, separators=(',', ':')) if hit else '-')
`;

test('each line leads to the entries that explain.py finds, for the same reasons', () => {
	const said = RUNS.flatMap(x => readFileSync(x, 'utf8').split('\n'));
	const lines = [...new Set([...LINES, ...said, '\u{1f600} ß status 12', '-19 --19 x-19'])];
	const python = execFileSync('/usr/bin/python3', ['-B', '-c', PYTHON], {encoding: 'utf8', env: {...process.env, PYTHONPATH: 'scripts'}, input: lines.join('\n'), maxBuffer: 1e8})
		.trimEnd().split('\n');
	assert.ok(lines.length > 500 && python.filter(x => x !== '-').length > 200);
	lines.forEach((line, i) => {
		const hits = lookUp(line, data);
		assert.equal(hits.length ? JSON.stringify([hits[0].sure, ...hits.map(x => `${x.entry.anchor}: ${x.why}`)]) : '-', python[i], line);
	});
});

// Each text of the input, a JSON line each: the three entries that explain.py names, with the reasons.
const THREE = `
import json
import sys
import explain
table = explain.Table()
for text in map(json.loads, sys.stdin):
    lines = text.split('\\n')
    first = {line: number for number, line in reversed(list(enumerate(lines, 1)))}
    hits = [table.look_up(line, number) for line, number in sorted(first.items(), key=lambda x: x[1])]
    hits = [hit for hit in hits if hit]
    hit = explain.first_cause(hits)
    asked = lines if hit or len(lines) == 1 else [x for x in lines if explain.TROUBLE.search(x[:1000])][:20]
    found = table.three(hit, [hit.line] if hit else asked)
    if hit and hit.sure == 'certain':
        found = found[:1]
    print(json.dumps([hit.line if hit else None, [[f'{e.page.replace(".md", ".html")}#{e.anchor}', why] for e, why in found]]))
`;

test('of a line, and of a log, the page names the three entries that explain.py names', () => {
	const logs = RUNS.map(x => readFileSync(x, 'utf8').trimEnd()).slice(0, 40);
	const texts = [...new Set([...LINES, ...logs, 'all is well\nit failed to poll on the last byte of a write',
		'why is soft-roce so slow compared with tcp?', 'segmentation fault'])];
	const python = execFileSync('/usr/bin/python3', ['-B', '-c', THREE], {encoding: 'utf8', env: {...process.env, PYTHONPATH: 'scripts'},
		input: texts.map(x => `${JSON.stringify(x)}\n`).join(''), maxBuffer: 1e8}).trimEnd().split('\n');
	texts.forEach((text, i) => {
		const {line, found} = explain(text, data);
		assert.deepEqual([line ?? null, found.map(x => [`${x.entry.page}#${x.entry.anchor}`, x.why])], JSON.parse(python[i]), text);
	});
});

test('each entry has a title, and most have a cause that fits beside a terminal', () => {
	assert.ok(entries.every(x => x.title && x.cause.length < 500), JSON.stringify(entries.find(x => x.cause.length >= 500)));
	assert.ok(entries.filter(x => x.cause).length > 90);
	assert.doesNotMatch(JSON.stringify(entries.map(x => [x.title, x.cause])), /`|\*\*|\]\(/);
});

const bytes = text => new TextEncoder().encode(text);
test('of what a terminal shows, the first cause is explained, until Enter is pressed', () => {
	const one = new Explainer(data);
	assert.equal(one.hear(bytes('\x1b[1merror: receive: status 5 (Work Request Flu')), null);
	assert.equal(one.hear(bytes('shed Error): x\x1b[0m\r\n')).anchor, 'status-5');
	assert.equal(one.hear(bytes('wc->status = 13 (RNR retry counter exceeded)\r\n')).anchor, 'status-13');
	assert.equal(one.hear(bytes('status 12 (transport retry counter exceeded)\r\nstatus 5 (Work Request Flushed Error)\r\n')).anchor,
		'status-13');
	one.forget();
	assert.equal(one.hear(bytes('all is well\r\n')), null);
	assert.equal(one.hear(bytes(`${'x'.repeat(1e6)}\n`)), null);
	assert.equal(one.hear(bytes(`${'all is well\n'.repeat(1000)}status 13 (RNR retry counter exceeded)\n`)), null);
	one.forget();
	assert.equal(one.hear(bytes('status 13 (RNR retry counter exceeded)\n')).anchor, 'status-13');
});

test('a guess is kept, judged once, and counted', () => {
	const place = new Storage();
	place.setItem('edit:01_send_recv/client.c', 'int x;');
	assert.deepEqual(score(place), {right: 0, all: 0});
	guess('01_send_recv', 'no_recv', '  ', place);
	assert.equal(guessOf('01_send_recv', 'no_recv', place), null);
	guess('01_send_recv', 'no_recv', 'nothing comes', place);
	guess('01_send_recv', 'no_recv', ' status 13 ', place);
	assert.deepEqual(guessOf('01_send_recv', 'no_recv', place), {text: 'status 13', right: null});
	judge('01_send_recv', 'no_send', true, place);
	assert.deepEqual(score(place), {right: 0, all: 0});
	judge('01_send_recv', 'no_recv', false, place);
	judge('01_send_recv', 'no_recv', true, place);
	guess('01_send_recv', 'no_recv', 'another', place);
	assert.deepEqual(guessOf('01_send_recv', 'no_recv', place), {text: 'status 13', right: false});
	guess('02_write_read', 'four_mistakes', 'status 10', place);
	judge('02_write_read', 'four_mistakes', true, place);
	assert.deepEqual(score(place), {right: 1, all: 2});
	place.setItem('guess:03_pure_verbs/no_grh', 'not JSON');
	assert.deepEqual(score(place), {right: 1, all: 2});
});
