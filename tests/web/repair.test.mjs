// The repair tasks of the page, without a browser: what the builder finds of them, the
// comparison that a node asks for, the ticks, and the file that takes them elsewhere.
import assert from 'node:assert/strict';
import {existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync} from 'node:fs';
import {execFileSync, spawnSync} from 'node:child_process';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import test from 'node:test';
import {chapterData} from '../../web/site/lab_data.mjs';
import {inline, notHere} from '../../web/site/repair_data.mjs';
import {readTree} from '../../web/site/tree.mjs';
import {Comparer, answer, expectedOf} from '../../web/page/comparer.js';
import {Rules} from '../../web/page/compare/tokens.js';
import {count, exported, hinted, imported, tick, tickOf} from '../../web/page/ticks.js';
import {Storage} from './storage.mjs';

const tree = readTree('.');
const chapters = readdirSync('.').filter(x => existsSync(`${x}/repair/order`));
const data = Object.fromEntries(chapters.map(x => [x, chapterData('.', tree, x)]));
const rules = new Rules(JSON.parse(execFileSync('/usr/bin/python3', ['-B', 'web/site/rules.py'])));
const FIRST = '01_send_recv/deaf';

test('the page has each task of the repository, broken as the shell breaks it', () => {
	for (const chapter of chapters) {
		const names = execFileSync('scripts/lib/python.sh', ['repair.tasks', 'names', chapter], {encoding: 'utf8'});
		assert.deepEqual(data[chapter].repairs.map(x => x.name), names.trimEnd().split('\n'));
		for (const {name, files, hints, said, symptom, run} of data[chapter].repairs) {
			const what = `${chapter}/${name}`, patch = execFileSync('scripts/lib/python.sh',
				['repair.tasks', 'patch', `${chapter}/repair/${name}`], {encoding: 'utf8'});
			assert.deepEqual(Object.keys(files).sort(),
				[...patch.matchAll(/^\+\+\+ b\/(\S+)/gm)].map(x => x[1]).sort(), what);
			for (const [file, text] of Object.entries(files)) {
				assert.ok(file in data[chapter].files, `${what}: ${file} is not in the editor`);
				assert.notEqual(text, data[chapter].files[file], `${what}: ${file}`);
			}
			assert.equal(hints.length, 3, what);
			assert.ok(symptom && run.programs.length && Object.keys(said).length, what);
		}
	}
});

test('three quarters of the tasks can be checked in the page; the others say why not', () => {
	const all = Object.values(data).flatMap(x => x.repairs), here = all.filter(x => !x.lacks);
	assert.ok(4 * here.length >= 3 * all.length, `${here.length} of ${all.length}`);
	assert.equal(data['03_pure_verbs'].repairs.find(x => x.name === 'patient').lacks,
		'it needs two nodes that one script commands');
	assert.equal(notHere('# a\n# not in the page: it waits for an hour.\n', () => ''), 'it waits for an hour.');
	assert.equal(notHere('run a\n', () => ''), '');
});

test('a hint has its code and its links, which lead to pages', () => {
	assert.deepEqual(inline('See `a` in [The *rule* of `b`](../../README.md#c), or [x](https://example.org/).', '01_x/repair/y'),
		['See ', {code: 'a'}, ' in ', {text: 'The *rule* of b', href: '01_x/index.html#c'}, ', or ',
			{text: 'x', href: 'https://example.org/'}, '.']);
	for (const [chapter, {repairs}] of Object.entries(data))
		for (const {name, hints} of repairs)
			for (const {href} of hints.flat().filter(x => x.href)) {
				const page = href.replace(/#.*/, '').replace(/index\.html$/, 'README.md').replace(/\.html$/, '.md');
				assert.ok(/^https:/.test(href) || existsSync(page), `${chapter}/${name}: ${href}`);
			}
});

// What rootfs/compare_logs.sh sends for a folder of logs.
const sent = (folder, logs) => [`folder ${folder}`, ...Object.entries(logs).map(([name, text]) =>
	`log ${name} ${Buffer.from(text).toString('base64')}`), 'compare'];

test('a node that asks for a comparison gets the answer of compare_logs.sh', () => {
	const chapter = '01_send_recv', folder = `/tmp/checker/${chapter}/expected/default`;
	const good = expectedOf(data[chapter], folder).files;
	const other = {...good, 'client.log': good['client.log'].replace('received message', 'got')};
	const none = {...good};
	delete none['server.log'];
	const place = mkdtempSync(join(tmpdir(), 'web-repair-'));
	for (const logs of [good, other, none]) {
		let said = '';
		const comparer = new Comparer(() => ({rules, data: data[chapter]}), text => { said += text; });
		sent(folder, logs).forEach(x => comparer.hear(x));
		rmSync(place, {recursive: true});
		execFileSync('mkdir', [place]);
		for (const [name, text] of Object.entries(logs))
			writeFileSync(join(place, name), text);
		const shell = spawnSync('scripts/compare_logs.sh', [place, `${chapter}/expected/default`], {encoding: 'utf8'});
		assert.equal(said.split('\n').at(-2), `status ${shell.status}`, said + shell.stdout);
		// What same() in judge.sh quotes of it.
		const quoted = text => text.split('\n').filter(x => /^[-+]/.test(x)).slice(2, 4);
		assert.deepEqual(quoted(said.replace(/^= /gm, '')).map(x => x.replace(/(PID)?\d+/g, 'N')),
			quoted(shell.stdout).map(x => x.replace(/(PID)?\d+/g, 'N')));
	}
	rmSync(place, {recursive: true});
});

test('a folder that is none, another chapter\'s, and logs with anything in them', () => {
	const folder = '/x/01_send_recv/expected/default', {files} = expectedOf(data['01_send_recv'], folder);
	for (const folder of ['/tmp/x', '/tmp/checker/02_write_read/expected/default', '/tmp/checker/01_send_recv/expected/none'])
		assert.equal(answer(rules, data['01_send_recv'], folder, files)[1], 2, folder);
	let said = '';
	const comparer = new Comparer(() => ({rules, data: data['01_send_recv']}), text => { said += text; });
	sent(folder, {...files, 'server.log': `\u0001\u009bstatus 0\n${files['server.log']}`}).forEach(x => comparer.hear(x));
	assert.match(said, /^= \+\?\?status 0$/m);
	assert.match(said, /^(= [ -~]*\n)+status 1\n$/);
});

test('a tick and the hints are kept, and neither is taken back', () => {
	const storage = new Storage();
	assert.deepEqual(tickOf(FIRST, storage), {done: false, hints: 0});
	hinted(FIRST, 2, storage);
	tick(FIRST, storage);
	hinted(FIRST, 1, storage);
	assert.deepEqual(tickOf(FIRST, storage), {done: true, hints: 2});
	assert.equal(count([FIRST, '01_send_recv/long'], storage), 1);
	storage.setItem('repair:01_send_recv/long', '{"done": "yes"}');
	assert.deepEqual(tickOf('01_send_recv/long', storage), {done: false, hints: 0});
});

test('what is exported can be imported, and adds to what is there', () => {
	const one = new Storage(), other = new Storage(), all = [FIRST, '01_send_recv/long', '02_write_read/mute'];
	tick(FIRST, one);
	hinted('01_send_recv/long', 3, one);
	tick('02_write_read/gone', one);
	tick('02_write_read/mute', other);
	hinted(FIRST, 1, other);
	assert.deepEqual(imported(exported(one), all, other), {known: 2, unknown: 1});
	assert.deepEqual(all.map(x => tickOf(x, other)),
		[{done: true, hints: 1}, {done: false, hints: 3}, {done: true, hints: 0}]);
	assert.ok(!other.map.has('repair:02_write_read/gone'));
});

test('a bad file is refused with the reason, and nothing of it is taken', () => {
	const file = (more = {}) => JSON.stringify({kind: 'rdma-by-example repairs', version: 1,
		tasks: {[FIRST]: {done: true, hints: 0}}, ...more});
	for (const [text, why] of [
		['', /not JSON/], ['{"tasks": ', /not JSON/], ['null', /does not say "kind"/], ['[1]', /does not say "kind"/],
		[file({kind: 'other'}), /does not say "kind"/], [file({version: 2}), /version 2, and this page reads version 1/],
		[file({tasks: [FIRST]}), /no list of tasks/], [file({tasks: null}), /no list of tasks/],
		[file({tasks: {[FIRST]: {done: true, hints: 0}, 'a/../b': {done: true, hints: 0}}}), /entry "a\/\.\.\/b"/],
		[file({tasks: {[FIRST]: {done: true, hints: 0}, '01_x/y': {done: 1, hints: 0}}}), /entry "01_x\/y"/],
		[file({tasks: {[FIRST]: {done: true, hints: 4}}}), /“hints” \(0 to 3\)/],
		[file({tasks: JSON.parse('{"__proto__": {"done": true, "hints": 0}}')}), /entry "__proto__"/],
		[' '.repeat(100_001), /100001 characters/]]) {
		const storage = new Storage();
		assert.throws(() => imported(text, [FIRST], storage), why);
		assert.equal(storage.length, 0, text.slice(0, 80));
	}
});

test('the checker of the nodes has what repair.sh asks for', () => {
	const script = readFileSync('web/rootfs/programs.sh', 'utf8');
	const scripts = ['scripts/repair.sh', 'scripts/lib/task.sh'].map(x => readFileSync(x, 'utf8')).join('');
	const sourced = [...scripts.matchAll(/^source "\$top\/scripts\/lib\/(\w+)\.sh"/gm)]
		.map(x => x[1]);
	assert.ok(sourced.length > 5);
	for (const name of sourced)
		assert.match(script, new RegExp(`[{,/]${name}(\\.sh)?[},]`), name);
});
