// The panel "Repair" in Chromium, with one task: what is told of it, a run of it, the
// check, which refuses a wrong repair and accepts a right one, hints, and ticks that stay.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import test, {after, before} from 'node:test';
import {PATIENCE, accessible, askLab, openLab, openSite} from './browser.mjs';

const FIRST = '01_send_recv', TASK = 'deaf', DONE = /✓ The server's answer comes/;
const options = {timeout: 2 * PATIENCE};
let site, page, lab, until;

before(async () => {
	site = await openSite({policy: true});
	({page, run: lab, until} = await openLab(site, `${FIRST}/index.html?lab&repair=${TASK}`));
}, options);
after(() => site.close());

const panel = '[role=tabpanel]:not([hidden])';
const button = (name, one = page) => one.getByRole('button', {name, exact: true});
const chosen = () => page.$eval(`${panel} select`, x => x.selectedOptions[0].textContent);

// The copy with one of the repairs beside the task, as somebody might write it in a
// terminal of node a.
async function repaired(name) {
	const patch = readFileSync(`${FIRST}/repair/${TASK}/${name}.patch`, 'utf8');
	const {folder} = await lab(`return lab.repair('${TASK}', '${FIRST}')`);
	await lab(`await lab.write('repair.patch', ${JSON.stringify(patch)})`);
	const {status, out} = await lab(`return lab.exec('a', 'cd ${folder} && /usr/bin/patch -f -s -p1 <~/${FIRST}/repair.patch')`);
	assert.equal(status, 0, out);
}

// As with a mouse: while it is checked, the button cannot be pressed.
async function check() {
	await button('Check').press('Enter');
	await until(`[...document.querySelectorAll('${panel} button')].some(x => x.textContent === 'Check' && !x.disabled)`,
		'the check is done');
	return page.innerText(`${panel} [role=status]`);
}

test('a link chooses the task: the symptom, and what both ends said', options, async () => {
	assert.equal(await page.getByRole('tab', {selected: true}).innerText(), 'Repair');
	const text = await page.innerText(panel);
	assert.match(text, /its send has failed, at once and every time/);
	assert.match(text, /client: \.\/client -a[^]*error: send: status 13[^]*exit status 1/);
	assert.match(text, /You have repaired 0 of (1[2-9]|[2-9]\d) tasks in all chapters\./);
	assert.equal(await page.inputValue(`${panel} select`), TASK);
	await accessible(page, 'a repair task');
});

test('it runs on both nodes, and the packets show it', options, async () => {
	await button('Run it').press('Enter');
	await until(`document.querySelector('${panel}').textContent.includes('the ladder what crossed')`, 'it has run');
	assert.match(await lab('return lab.screen("b")'), /wc->status = 13/);
	assert.ok((await lab('return lab.packets()')).some(x => /RNR/.test(x.text)));
});

test('the broken copy is refused', options, async () => {
	const text = await check();
	assert.match(text, /^ {2}missing {2}the run default goes as recorded/m);
	assert.doesNotMatch(await chosen(), DONE);
});

test('three hints come one after another', options, async () => {
	for (const [at, words] of [[1, 'Where: not in the client'], [2, 'Ask: the client may send'], [3, 'The rule: a message needs']]) {
		await button(`Hint ${at} of 3`).press('Enter');
		assert.equal(await page.locator(`${panel} ol li`).count(), at);
		assert.match(await page.locator(`${panel} ol li`).last().innerText(), new RegExp(`^${words}`));
	}
	assert.ok(await button('No more hints').isDisabled());
	const link = await page.locator(`${panel} ol a`).last().getAttribute('href');
	assert.match(link, /01_send_recv\/index\.html#the-client-and-the-server-beside-it$/);
	assert.ok(await page.$(new URL(link).hash), 'the rule has its place in the text');
});

test('a wrong repair is refused: the server posts its receive when it is connected', options, async () => {
	await repaired('wrong');
	const {repaired: is, status, out} = await lab('return lab.check()');
	assert.deepEqual([is, status], [false, 1], out);
	assert.match(out, /^ {2}missing {2}the receive is there before the client can send/m);
});

test('a right one, typed into the editor, is accepted, and the task has a tick', options, async () => {
	const {files} = JSON.parse(readFileSync('build/web/web/lab/01_send_recv.json', 'utf8'));
	await page.selectOption(`${panel} select >> nth=1`, 'server.c');
	await page.waitForSelector(`${panel} .cm-content[aria-label="server.c"]`);
	await page.click(`${panel} .cm-content`);
	await page.keyboard.press('Control+a');
	await page.evaluate(text => {
		const transfer = new DataTransfer();
		transfer.setData('text/plain', text);
		document.activeElement.dispatchEvent(new ClipboardEvent('paste', {clipboardData: transfer, bubbles: true, cancelable: true}));
	}, files['server.c']);
	const text = await check();
	assert.match(text, /^all \d+ things are there$/m);
	assert.match(text, /Repaired\. The browser keeps the tick\./);
	assert.match(await chosen(), DONE);
	assert.match(await page.innerText(panel), /You have repaired 1 of/);
	await accessible(page, 'a task that is repaired');
});

test('after a reload the tick, the hints and the edit are there', options, async () => {
	await page.reload();
	({run: lab, until} = askLab(page));
	await until('window.lab', 'the lab opens');
	await lab('await lab.ready()');
	assert.match(await chosen(), DONE);
	assert.equal(await page.locator(`${panel} ol li`).count(), 3);
	await until(`Object.keys(localStorage).includes('edit:repair/${FIRST}/${TASK}/server.c')`, 'the edit is kept');
});

// What a button saves, as text.
async function download(name) {
	const [file] = await Promise.all([page.waitForEvent('download'), button(name).click()]);
	assert.equal(file.suggestedFilename(), 'rdma-repairs.json');
	return readFileSync(await file.path(), 'utf8');
}

const give = (text, name = 'mine.json') => page.setInputFiles(`${panel} input[type=file]`,
	{name, mimeType: 'application/json', buffer: Buffer.from(text)});
const saysLine = text => until(`document.querySelector('${panel} [role=status]').textContent.includes(${
	JSON.stringify(text)})`, text);

test('ticks go into a file and come out of it; a bad file is refused', options, async () => {
	const text = await download('Export');
	assert.deepEqual(JSON.parse(text).tasks, {[`${FIRST}/${TASK}`]: {done: true, hints: 3}});
	await page.evaluate('localStorage.clear()');
	await page.reload();
	({run: lab, until} = askLab(page));
	await until('window.lab', 'the lab opens');
	await lab('await lab.ready()');
	assert.doesNotMatch(await chosen(), DONE);
	await give('no file of ours', 'other.json');
	await saysLine('Nothing was taken from other.json. This file is not JSON. Choose the file that “Export” has made.');
	assert.doesNotMatch(await chosen(), DONE);
	await give(text);
	await saysLine('Taken from mine.json: 1 task.');
	assert.match(await chosen(), DONE);
});

test('a task that is none, and a check of none, say what there is', options, async () => {
	await assert.rejects(lab(`return lab.repair('nonsense', '${FIRST}')`), /has no repair task nonsense; it has deaf, long/);
	await assert.rejects(lab('return lab.check()'), /no task of 01_send_recv was handed out/);
});

test('no page asked another host for anything, and no script failed', () => {
	assert.deepEqual(site.foreign, []);
	assert.deepEqual(site.errors, []);
});
