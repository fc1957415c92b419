// The lab in Chromium, or another browser: two nodes, real Soft-RoCE, and the wire between them.
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import test, {after, before} from 'node:test';
import {CHAPTERS, PATIENCE, assertForgery, labData, once, openLab, openSite} from './browser.mjs';

const FIRST = '01_send_recv';
const options = {timeout: PATIENCE};
let site, page, lab, until;

before(async () => {
	assert.ok(existsSync('build/web/web/lab/state.zst'), 'make web has not built the lab');
	// With the policies of workers, too, which only a server can send.
	site = await openSite({policy: true});
	({page, run: lab, until} = await openLab(site, `${FIRST}/index.html?lab`));
}, options);
after(() => site.close());

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

test('the ladder has the packets of the capture', options, async () => {
	const folder = mkdtempSync(join(tmpdir(), 'web-lab-'));
	const bytes = await lab('return [...lab.capture()]');
	writeFileSync(join(folder, 'a.pcapng'), Uint8Array.from(bytes));
	const rows = execFileSync('node', ['scripts/lib/wire/packets.mjs', join(folder, 'a.pcapng')],
		{encoding: 'utf8'}).trimEnd().split('\n').map(x => JSON.parse(x).text);
	rmSync(folder, {recursive: true});
	assert.deepEqual((await lab('return lab.packets()')).map(x => x.text),
		rows.filter(x => x !== 'TCP ACK'));
	assert.equal(await page.locator('.ladder .packet').count(), rows.length);
});

test('a click on a packet shows its fields and bytes, and the line that sent it', options, async () => {
	await page.locator('.ladder .packet', {hasText: 'SEND Only'}).first().click();
	const text = await page.innerText('.details');
	assert.match(text, /destination QPN/);
	assert.match(text, /message\.c:\d+/);
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

const same = ({matches, trouble, differences}) =>
	assert.ok(matches, JSON.stringify({trouble, differences}).slice(0, 4000));

// A minute on hold, in which both nodes stand still: time for all logged runs, in a
// page of their own. What the run on hold says in the end, and since when it waits.
const held = once(async () => {
	await lab('lab.wire({hold: true})');
	const run = lab(`return lab.run('${FIRST}', 'default')`);
	await until('lab.packets().some(x => x.fate === "waits")', 'a packet waits');
	return {run, since: Date.now()};
});
const another = once(() => openLab(site, `${FIRST}/index.html?lab`));

test('a packet is put on hold', options, () => held());

// All but those with a program of another chapter: each chapter's nodes have its own.
test('each logged run of the repository is in the page', () => {
	const here = path => existsSync(path) && !/\.\.\/0\d_/.test(readFileSync(path, 'utf8'));

	for (const chapter of CHAPTERS)
		assert.deepEqual(Object.keys(labData(chapter).runs), readdirSync(`${chapter}/expected`)
			.filter(x => here(`${chapter}/expected/${x}/commands`)).sort());
});

// In Chromium, the run that its README shows; cases.browser.mjs has the others. In
// Firefox, all: that is for the long tests.
const shown = Object.fromEntries(readFileSync('chapters.tsv', 'utf8').split('\n').filter(x => /^\d/.test(x))
	.map(x => x.split('\t')).map(x => [x[0], x[4]]));
const every = process.env.BROWSER === 'firefox';
for (const chapter of CHAPTERS)
	for (const name of Object.keys(labData(chapter).runs).filter(x => every || shown[chapter] === x))
		test(`${chapter}: the run ${name} matches`, options, async () => {
			const {run} = await another();
			const result = await run(`return lab.run('${chapter}', '${name}')`);
			same(result);
			if (name === 'stress')
				assert.match(result.logs['client-1.log'], /^10 connections: 10 served, 0 refused, 0 failed;/m);
		});

// 08's own runs have 30 at most. The run that its README shows has brought its programs.
test('08_event_loop: fifty clients at once, in one thread at either end', options, async () => {
	const {run} = await another();
	const {status, out} = await run(`
		await lab.exec('a', 'cd ~/08_event_loop && { { ./server -e 50; echo ended with $?; } >/tmp/said 2>&1 & }');
		await lab.exec('a', 'until grep -qE "listening|ended" /tmp/said; do :; done');
		return lab.exec('b', 'cd ~/08_event_loop && ./load/load -n 50 -N 4 -a 192.0.2.1')`);
	assert.equal(status, 0, out);
	assert.match(out, /^50 connections: 50 served, 0 refused, 0 failed\.$/m);
	const server = await run(`return lab.exec('a', 'until grep -q "^ended" /tmp/said; do :; done; cat /tmp/said')`);
	assert.match(server.out, /^ended with 0$/m);
	assert.equal(server.out.match(/peer disconnected after 4 messages/g)?.length, 50, server.out);
});

test('a minute on hold ends in no timeout', options, async () => {
	const {run, since} = await held();
	await page.waitForTimeout(Math.max(0, since + 60_000 - Date.now()));
	assert.equal((await lab('return lab.packets()')).length, 1);
	await lab('lab.wire({hold: false})');
	assert.ok((await run).matches);
	await (await another()).page.context().close();
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

test('a case that does not fit an edited file names the file, and the cure', options, async () => {
	const source = readFileSync(`${FIRST}/server.c`, 'utf8');
	const edited = source.replace('message_post_recv(', 'message_post_receive(');
	await lab(`localStorage.setItem('edit:${FIRST}/server.c', ${JSON.stringify(edited)});
		await lab.write('server.c', ${JSON.stringify(edited)})`);
	await assert.rejects(lab(`return lab.break('no_recv', '${FIRST}')`),
		/FAILED[^]*You have changed server\.c in Files; Reset there brings the chapter's back\./);
	await lab(`localStorage.clear(); await lab.write('server.c', ${JSON.stringify(source)})`);
});

// A case of the chapter that has a program more; visit.browser.mjs has one of the first,
// and cases.browser.mjs all, since to compile on an emulated machine takes long.
for (const chapter of CHAPTERS.filter(x => every || x === '05_multiclient')) {
	const [name] = Object.entries(labData(chapter).cases).find(([, {lacks}]) => !lacks);
	test(`${chapter}: ${name} breaks as promised`, options, async () =>
		same(await lab(`return lab.break('${name}', '${chapter}')`)));
}

test('a third party at the wire forges a WRITE of 04\'s, and none with MACsec', options, async () => {
	const open = await lab('return lab.wiretap("open", "04_tls_psn")');
	assertForgery('open', open);
	assert.equal(open.memory, 'forged: neither of you wrote this');
	assert.equal(await page.locator('.ladder .nak', {hasText: 'forged: '}).count(), 1);
	// cases.browser.mjs has each of the links, in 02, 03 and 04.
	assertForgery('macsec', await lab('return lab.wiretap("macsec", "04_tls_psn")'));
});

test('a third party answers in the server\'s place, and says the client\'s goodbye; on MACsec it cannot', options, async () => {
	assertForgery('data', await lab('return lab.wiretap("data", "04_tls_psn")'));
	assertForgery('dreq', await lab('return lab.wiretap("dreq", "02_write_read")'));
	assertForgery('dreq macsec', await lab('return lab.wiretap("dreq macsec", "02_write_read")'));
});

test('without the third party, all is as before; the checker finds all of a solution', options, async () => {
	same(await lab(`return lab.run('${FIRST}', 'first')`));
	const unsolved = await lab(`return lab.exercise('name', '${FIRST}')`);
	assert.equal(unsolved.status, 1, unsolved.out);
	const patch = readFileSync(`${FIRST}/exercises/name.patch`, 'utf8');
	await lab(`await lab.write('solution.patch', ${JSON.stringify(patch)})`);
	await lab(`await lab.exec('a', 'cd ~/work/01_name && /usr/bin/patch -f -s -p1 <~/${FIRST}/solution.patch')`);
	const solved = await lab(`return lab.exercise('name', '${FIRST}')`);
	assert.equal(solved.status, 0, solved.out);
	assert.match(solved.out, /^all \d+ things are there$/m);
	// It was done in the copy: the chapter is as it was.
	same(await lab(`return lab.run('${FIRST}', 'default')`));
});

test('no page asked another host for anything', () => {
	assert.deepEqual(site.foreign, []);
	assert.deepEqual(site.errors, []);
});
