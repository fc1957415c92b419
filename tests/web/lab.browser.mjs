// The lab in Chromium: two nodes, real Soft-RoCE, and the wire between them.
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import test, {after, before} from 'node:test';
import {openSite} from './browser.mjs';

const FIRST = '01_send_recv';
// Machines are slow and busy; nothing here is about speed.
const PATIENCE = 300_000;
let site, page;

// What window.lab says; result that a page cannot hand over becomes JSON.
const lab = code => page.evaluate(`(async () => { ${code} })()`);
const until = (code, what) => page.waitForFunction(code, null, {timeout: PATIENCE})
	.catch(() => assert.fail(`never: ${what}`));

before(async () => {
	assert.ok(existsSync('build/web/web/lab/state.zst'), 'make web has not built the lab');
	site = await openSite();
	page = await site.open(`${FIRST}/index.html?lab`, {viewport: {width: 1400, height: 900}});
	page.setDefaultTimeout(PATIENCE);
	await until('window.lab', 'the lab opens');
	await lab('await lab.ready()');
}, {timeout: PATIENCE});
after(() => site.close());

const options = {timeout: PATIENCE};

test('the shells on both terminals answer', options, async () => {
	for (const [node, address] of [['a', '192.0.2.1'], ['b', '192.0.2.2']]) {
		await lab(`lab.type('${node}', 'ip -o -4 addr show eth0; rdma link\\r')`);
		await until(`lab.screen('${node}').includes('${address}/24') &&
			lab.screen('${node}').includes('state ACTIVE')`, `node ${node} has its address and rxe`);
	}
});

test('the logged run matches, and both nodes draw numbers of their own', options, async () => {
	const {matches, logs, differences} = await lab(`return lab.run('${FIRST}', 'default')`);
	assert.ok(matches, JSON.stringify({logs, differences}));
	const starts = (await lab('return lab.packets()')).map(x => x.text)
		.filter(x => /^Connect(Request|Reply)/.test(x)).map(x => x.split('PSN ')[1]);
	assert.equal(new Set(starts).size, 2);
});

test('the ladder has the packets that tshark finds in the capture', options, async () => {
	const folder = mkdtempSync(join(tmpdir(), 'web-lab-'));
	const bytes = await lab('return [...lab.capture()]');
	writeFileSync(join(folder, 'a.pcapng'), Uint8Array.from(bytes));
	const rows = execFileSync('python3', ['scripts/lib/wire/packets.py', join(folder, 'a.pcapng')],
		{encoding: 'utf8'}).trimEnd().split('\n').slice(1).map(x => x.split('\t').at(-1));
	rmSync(folder, {recursive: true});
	assert.deepEqual((await lab('return lab.packets()')).map(x => x.text),
		rows.filter(x => x !== 'TCP ACK'));
	assert.equal(await page.locator('.ladder .packet').count(), rows.length);
});

test('a click on a packet shows its fields and bytes, and the line that sent it', options, async () => {
	await page.locator('.ladder .packet', {hasText: 'SEND Only'}).first().click();
	const text = await page.innerText('.details');
	assert.match(text, /destination QPN/);
	assert.match(text, /data\.c:\d+/);
});

test('a lost packet is sent again, and the run matches all the same', options, async () => {
	await lab('lab.wire({hold: true})');
	const run = lab(`return lab.run('${FIRST}', 'default')`);
	for (let lost = false; !lost;) {
		await until('!document.querySelectorAll(".wire button")[1].disabled', 'a packet waits');
		const first = (await lab('return lab.packets()')).find(x => x.fate === 'waits');
		lost = first.kind === 'SEND Only';
		await lab(lost ? 'lab.step("drop")' : 'lab.step()');
	}
	await lab('lab.wire({hold: false})');
	assert.ok((await run).matches);
	const packets = await lab('return lab.packets()');
	assert.ok(packets.some(x => x.fate === 'lost' && x.kind === 'SEND Only'));
	assert.ok(packets.some(x => x.mark === 'again' && x.kind === 'SEND Only'));
});

test('a minute on hold ends in no timeout', options, async () => {
	await lab('lab.wire({hold: true})');
	const run = lab(`return lab.run('${FIRST}', 'default')`);
	await until('lab.packets().some(x => x.fate === "waits")', 'a packet waits');
	await page.waitForTimeout(60_000);
	assert.equal((await lab('return lab.packets()')).length, 1);
	await lab('lab.wire({hold: false})');
	assert.ok((await run).matches);
});

test('a case that is broken on purpose breaks as promised', options, async () => {
	const {matches, differences} = await lab('return lab.break("no_recv")');
	assert.ok(matches, JSON.stringify(differences));
});

test('an edit builds and runs; an error is shown at its line; reset undoes it', options, async () => {
	const source = readFileSync(`${FIRST}/client.c`, 'utf8');
	const edited = source.replace(/int main\(/, 'static int wrong(void)\n{\n\treturn 1\n}\n\nint main(');
	await lab(`await lab.write('client.c', ${JSON.stringify(edited)})`);
	const failed = await lab('return lab.build("b")');
	assert.notEqual(failed.status, 0);
	const line = edited.slice(0, edited.indexOf('return 1')).split('\n').length;
	assert.equal(failed.errors[0].file, 'client.c');
	assert.ok(Math.abs(failed.errors[0].line - line) <= 1, JSON.stringify(failed));
	await lab(`await lab.write('client.c', ${JSON.stringify(source)})`);
	const built = await lab('return lab.build("b")');
	assert.equal(built.status, 0, built.out);
	assert.ok((await lab(`return lab.run('${FIRST}', 'default')`)).matches);
});

for (const chapter of readdirSync('.').filter(x => /^\d\d_/.test(x) && x !== FIRST))
	test(`${chapter}: its plain run matches`, options, async () => {
		const runs = Object.keys(JSON.parse(
			readFileSync(`build/web/web/lab/${chapter}.json`, 'utf8')).runs);
		const name = ['write', 'default', ...runs].find(x => runs.includes(x));
		const {matches, differences, trouble} = await lab(`return lab.run('${chapter}', '${name}')`);
		assert.ok(matches, JSON.stringify({trouble, differences}).slice(0, 3000));
	});

test('an edit survives a reload', options, async () => {
	await page.evaluate(`localStorage.setItem('edit:${FIRST}/client.c', '// mine')`);
	await page.reload();
	await until('window.lab', 'the lab opens again');
	await lab('await lab.ready()');
	await page.click('role=tab[name=Files]');
	await page.waitForSelector('.cm-content');
	assert.match(await page.innerText('.cm-content'), /\/\/ mine/);
});

test('a browser without WebAssembly gets the reason and the recorded run', options, async () => {
	const other = await site.open(`${FIRST}/index.html`);
	await other.addInitScript('delete globalThis.WebAssembly');
	await other.goto(site.at(`${FIRST}/index.html?lab`));
	await other.waitForSelector('.lab img');
	assert.match(await other.innerText('.lab'), /no WebAssembly/);
	await other.context().close();
});

test('no page asked another host for anything', () => {
	assert.deepEqual(site.foreign, []);
	assert.deepEqual(site.errors, []);
});
