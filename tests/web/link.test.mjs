// What a link may do in the lab: fill in, and never press a key.
import assert from 'node:assert/strict';
import {mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import test from 'node:test';
import {Node} from '../../web/page/node.js';
import {follow} from '../../web/page/link.js';
import {runPrograms} from '../../web/page/runs.js';
import {readCommands} from '../../web/site/logs.mjs';

// A node whose machine ends each command at once; keys: what was typed on its
// terminal; commands: what it ran beside that.
function makeNode(name) {
	const seen = {keys: '', commands: []}, listeners = [];
	const tell = data => queueMicrotask(() => listeners.forEach(f => f({data})));
	const node = new Node(name, {
		addEventListener: (type, f) => type === 'message' && listeners.push(f),
		postMessage(message) {
			const text = new TextDecoder().decode(message.bytes);
			if (message.type === 'put') {
				seen.commands.push(text);
				tell({type: 'done', id: message.id});
			} else if (message.port === 0) {
				seen.keys += text;
			} else if (message.port === 1) {
				tell({type: 'serial', port: 1, bytes: new TextEncoder().encode('\x010\n')});
			}
		}});
	return {node, seen};
}

function open(link) {
	const a = makeNode('a'), b = makeNode('b'), said = [];
	const lab = {nodes: {a: a.node, b: b.node}, wire: () => {}};
	follow(new URLSearchParams(link), lab, text => said.push(text));
	return {a, b, said, nodes: lab.nodes};
}

test('a link types a command, without Enter', () => {
	const {a, b, said} = open('?lab&a=./client+-a+192.0.2.1+%7C+grep+"%7E$x"&b=ls');
	assert.equal(a.seen.keys, './client -a 192.0.2.1 | grep "~$x"');
	assert.equal(b.seen.keys, 'ls');
	assert.deepEqual(said, []);
});

test('a link with any control character, or one that is not seen, types nothing', () => {
	const controls = [...Array(0x20).keys(), ...Array.from({length: 0x21}, (_, i) => 0x7f + i)];
	const others = [0xa0, 0xad, 0x200b, 0x200e, 0x2028, 0x2029, 0x202e, 0x2066, 0x3164,
		0xfeff, 0xe0041, 0xd800, 0xfffd];
	for (const code of [...controls, ...others])
		for (const text of [`ls${String.fromCodePoint(code)}`, `ls${String.fromCodePoint(code)}rm -rf ~`]) {
			const wish = new URLSearchParams({a: text, b: 'ls'}), {a, b, said} = open(wish);
			assert.equal(a.seen.keys, '', `U+${code.toString(16)}`);
			assert.equal(b.seen.keys, 'ls');
			if (code !== 0xd800)
				assert.match(said.join(), new RegExp(`node a was not typed.*U\\+0*${code.toString(16)};`, 'i'));
		}
});

// Bracketed paste, answers of a terminal, a title, and what readline takes for Enter
// or for Meta with Control and E, which expands what is on the line.
test('no sequence gets through', () => {
	for (const text of ['\x1b[200~rm -rf ~\r\x1b[201~', '\x9b200~x\x9b201~', '\x1b]0;x\x07',
		'\x1b[1;1R', '\x0f', 'x\x16\r', '$(x)\x1b\x05', '$(x)\xc5', 'ls\u0085'])
		assert.equal(open(new URLSearchParams({a: text})).a.seen.keys, '');
});

test('a link types no more than a reader sees at a glance', () => {
	assert.equal(open(`?a=${'x'.repeat(200)}`).a.seen.keys.length, 200);
	const {a, said} = open(`?a=rm+-rf+~;${'+'.repeat(3000)}ls`);
	assert.equal(a.seen.keys, '');
	assert.match(said.join(), /has 3011 characters/);
});

test('a run presses no Enter on what was typed before it', async () => {
	const {a, nodes} = open('?a=rm+-rf+~');
	await runPrograms(nodes, {nodes: 1, setup: [], programs: []}, '/root/x');
	await nodes.a.queue;
	await nodes.a.queue;
	assert.equal(a.seen.keys, 'rm -rf ~');
	assert.deepEqual(a.seen.commands, ['stty -F /dev/ttyS0 rows 24 cols 81\n',
		'stty -F /dev/ttyS0 rows 24 cols 80\n']);
});

test('a command that is shown on a terminal is seen as a whole', t => {
	const folder = mkdtempSync(join(tmpdir(), 'web-link-')), path = join(folder, 'commands');
	t.after(() => rmSync(folder, {recursive: true}));
	for (const code of [0x1b, 0x0d, 0x7f, 0x9b, 0x2028, 0x202e]) {
		writeFileSync(path, `# x\nserver: ./server -1 #${String.fromCodePoint(code)}[8m\n`);
		assert.throws(() => readCommands(path), /control character/, code.toString(16));
	}
	writeFileSync(path, '# x\nserver: ./server -1\n');
	assert.equal(readCommands(path).programs[0].command, './server -1');
});

// Whoever else types must be looked at, too.
test('only the keyboard, a link and window.lab type', () => {
	const found = readdirSync('web/page').filter(x => x.endsWith('.js')).flatMap(file =>
		[...readFileSync(`web/page/${file}`, 'utf8').matchAll(/^.*(?:\.type\(|\.serial\(0).*$/gm)]
			.map(([line]) => `${file}: ${line.trim()}`));
	assert.deepEqual(found, [
		'lab_page.js: type: (node, text) => lab.nodes[node].type(text),',
		'link.js: node.type(text);',
		'node.js: this.serial(0, text);',
		'terminal.js: terminal.onData(data => node.type(data));']);
});
