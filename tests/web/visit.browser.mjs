// A visit with the lab, in Chromium: what is fetched, how much memory it takes, a
// tab that is closed and opened again, no network, a small window, no mouse, a link
// that fills in the lab, a browser that cannot run it.
import assert from 'node:assert/strict';
import {readFileSync, readdirSync} from 'node:fs';
import test, {after, before} from 'node:test';
import {PATIENCE, askLab, inside, once, openLab, openSite} from './browser.mjs';

const FIRST = '01_send_recv', MB = 1e6;
const options = {timeout: PATIENCE};
let site, first;

before(async () => { site = await openSite(); }, options);
after(() => site.close());

// The parts of memory that only this process has, and its part of the shared ones.
const pss = pid => Number(/^Pss: +(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))[1]) * 1024;

// Whether a process was started by this one, by a process of its, and so on.
function isOurs(pid) {
	while (pid > 1 && pid !== process.pid)
		pid = Number(/^\d+ \(.*\) \S+ (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))[1]);
	return pid === process.pid;
}

// What the largest tab takes now, in bytes.
const largestTab = () => Math.max(...readdirSync('/proc').map(Number).filter(Boolean).flatMap(pid => {
	try {
		const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
		return line.includes('--type=renderer') && isOurs(pid) ? [pss(pid)] : [];
	} catch {
		return [];
	}
}));

// The most that it takes while something goes on.
async function mostMemory(what) {
	let most = largestTab();
	const looks = setInterval(() => { most = Math.max(most, largestTab()); }, 50);
	try {
		await what();
	} finally {
		clearInterval(looks);
	}
	return Math.max(most, largestTab());
}

test('the text is there after 1 MB, and the lab after 15 MB', options, async t => {
	const page = await site.blank();
	await page.goto(site.at(`${FIRST}/index.html`), {waitUntil: 'networkidle'});
	assert.ok(site.sent < MB, `${site.sent} bytes for the text`);
	t.diagnostic(`the text: ${(site.sent / MB).toFixed(2)} MB`);
	first = {page, ...askLab(page)};
	const {run, until} = first, clicked = Date.now();
	first.starting = await mostMemory(async () => {
		await page.getByRole('button', {name: /Open the lab/}).click();
		await until(`window.lab && ['a', 'b'].every(x => / ?[ab]:~# ?$/.test(lab.screen(x)))`, 'both prompts');
		t.diagnostic(`from the click to both prompts: ${Date.now() - clicked} ms`);
		await run('await lab.ready()');
	});
	assert.ok(await run('return lab.kept()'));
	assert.ok(site.sent < 15 * MB, `${site.sent} bytes for a first visit`);
	t.diagnostic(`all: ${(site.sent / MB).toFixed(2)} MB`);
});

test('the tab takes less than 600 MB, while the lab starts and afterwards', options, async t => {
	const during = await mostMemory(async () =>
		assert.ok((await first.run(`return lab.run('${FIRST}', 'default')`)).matches));
	for (const [when, bytes] of [['while the lab starts', first.starting],
		['during a run', during], ['afterwards', largestTab()]]) {
		t.diagnostic(`the largest tab ${when}: ${Math.round(bytes / MB)} MB`);
		assert.ok(bytes > 0 && bytes < 600 * MB, `${bytes} bytes ${when}`);
	}
});

test('an edit is there after a reload, and in a tab that is opened anew', options, async () => {
	const {page} = first;
	await page.getByRole('tab', {name: 'Files'}).click();
	await page.locator('.cm-content').click();
	await page.keyboard.press('Control+Home');
	await page.keyboard.type('// mine');
	await page.keyboard.press('Enter');
	await page.reload();
	await page.getByRole('button', {name: /Open the lab/}).click();
	await page.getByRole('tab', {name: 'Files'}).click();
	await page.waitForSelector('.cm-content');
	assert.match(await page.innerText('.cm-content'), /^\/\/ mine/);
	const again = await page.context().newPage();
	await page.close();
	await again.goto(site.at(`${FIRST}/index.html?lab`));
	first = {page: again, ...askLab(again)};
	await first.until('window.lab', 'the lab opens in another tab');
	await first.run('await lab.ready()');
	await again.getByRole('tab', {name: 'Files'}).click();
	await again.waitForSelector('.cm-content');
	assert.match(await again.innerText('.cm-content'), /^\/\/ mine/);
});

test('without a network, what was visited is there, and the lab starts and runs', options, async () => {
	const {page} = first;
	assert.ok(await first.run('return lab.kept()'));
	await site.offline();
	await page.reload();
	await first.until('window.lab', 'the lab opens without a network');
	await first.run('await lab.ready()');
	assert.ok((await first.run(`return lab.run('${FIRST}', 'default')`)).matches);
	await site.online();
	await page.context().close();
});

// One page for all that follows, as a link has opened it.
const linked = once(() => openLab(site, `${FIRST}/index.html?lab&case=no_send&wire=loss:0.1,hold` +
	'&a=touch+/tmp/ran&b=touch+/tmp/ran%0d'));

test('a link chooses a case, sets the wire and fills in a command', options, async () => {
	const {page, run, until} = await linked();
	assert.match(await page.innerText('.lab .status'), /node b was not typed\. It has the character U\+000D/);
	assert.equal(await page.getByRole('tab', {selected: true}).innerText(), 'Break it');
	assert.equal(await page.getByRole('combobox', {name: /Break it/}).inputValue(), 'no_send');
	const {loss, hold} = await run('return lab.wire()');
	assert.deepEqual({loss, hold}, {loss: 0.1, hold: true});
	assert.equal(await page.getByRole('slider', {name: 'Loss'}).inputValue(), '10');
	assert.equal(await page.getByRole('button', {name: 'Hold'}).getAttribute('aria-pressed'), 'true');
	await run('lab.wire({loss: 0, hold: false})');
	await until('lab.screen("a").endsWith("# touch /tmp/ran")', 'the command is there, and waits for Enter');
});

// What a terminal answers when it is asked who it is, where its cursor is, its colour,
// its size, a setting: as if somebody had typed that.
const ASKS = String.raw`\005\033[c\033[>c\033[5n\033[6n\033[18t\033[21t\033]10;?\007\033P$qm\033\134\033[?25$p`;

test('nothing but the reader presses Enter on what a link has typed', options, async () => {
	const {run, until} = await linked();
	assert.ok((await run(`return lab.run('${FIRST}', 'default')`)).matches);
	await until('/listening on [^]*# touch .tmp.ran$/.test(lab.screen("a"))', 'the command is there again after a run');
	await until('/client [^]*b:~#$/.test(lab.screen("b"))', 'there is a new prompt on the other node');
	await run(`await lab.exec('a', ${JSON.stringify(`printf '${ASKS}' >/dev/ttyS0`)})`);
	await until('!lab.screen("a").endsWith("# touch /tmp/ran")', 'the terminal has answered');
	for (const node of ['a', 'b'])
		assert.equal((await run(`return lab.exec('${node}', 'test -e /tmp/ran')`)).status, 1);
	await run(String.raw`lab.type('a', '\x03')`);
	await until('/\\n.*a:~#$/.test(lab.screen("a"))', 'there is a new prompt');
	await run(String.raw`lab.type('a', 'touch /tmp/ran\r')`);
	await until('lab.exec("a", "test -e /tmp/ran").then(x => x.status === 0)', 'Enter runs it');
});

test('window.lab is what web/README.md says', options, async () => {
	const {run} = await linked();
	const table = readFileSync('web/README.md', 'utf8').split('\n').filter(x => x.startsWith('| `'));
	const named = table.flatMap(row => [...row.split('|')[1].matchAll(/lab\.(\w+)/g)].map(x => x[1]));
	assert.deepEqual([...new Set(named)].sort(), await run('return Object.keys(lab).sort()'));
	await assert.rejects(run(`return lab.run('${FIRST}', 'nonsense')`), /has no nonsense; it has default/);
});

test('Run here runs it, and Break it here chooses the case and waits for the reader', options, async () => {
	const {page, run, until} = await linked();
	await page.getByRole('button', {name: 'Run here'}).first().click();
	await until(`document.querySelector('.lab .good')`, 'the run matches');
	assert.match(await run('return lab.screen("a")'), /\$ \.\/first\n/);
	for (const part of ['.screen', '.ladder-box', '.wire'])
		assert.ok(await inside(page, part), `${part} is in the window`);
	const before = await run('return lab.screen("a")');
	await page.locator('button.here[data-case=unready]').first().click();
	assert.equal(await page.getByRole('tab', {selected: true}).innerText(), 'Break it');
	assert.equal(await page.getByRole('combobox', {name: /Break it/}).inputValue(), 'unready');
	assert.equal(await run('return lab.screen("a")'), before);
});

test('a case: the reader guesses, it breaks, the error is explained, and the guess is counted', options, async () => {
	const {page, run, until} = await linked();
	assert.match(await page.innerText('[role=tabpanel]:not([hidden])'), /posts no receive, at either end/);
	await page.getByRole('textbox', {name: /Your guess/}).fill('status 13 at the client');
	await page.keyboard.press('Enter');
	assert.match(await page.innerText('.guess[role=status]'), /Your guess: status 13 at the client/);
	await page.getByRole('button', {name: 'Break it', exact: true}).click();
	await until(`document.querySelector('[role=tabpanel]:not([hidden]) .good')`, 'it breaks as promised');
	assert.match(await page.locator('.terminal-box').nth(1).locator('.explained').innerText(), /^status 13 .*receive/s);
	assert.equal(await page.locator('.terminal-box').nth(1).locator('.explained a').getAttribute('href')
		.then(x => new URL(x).hash), '#status-13');
	await page.getByRole('button', {name: 'I was right'}).click();
	assert.match(await page.innerText('.guess[role=status]'), /You were right in 1 of the 1 case for which/);
	assert.ok(!await page.isVisible('.guess input'));
	await page.locator('.xterm-helper-textarea').nth(1).focus();
	await page.keyboard.press('Enter');
	await until('document.querySelectorAll(".explained")[1].textContent === ""', 'Enter ends the explanation');
	await page.context().close();
});

test('a browser that cannot run it gets the reason and the recorded run', options, async () => {
	for (const [lacks, says] of [['delete globalThis.WebAssembly', /no WebAssembly/],
		['Object.defineProperty(navigator, "deviceMemory", {value: 1})', /too little memory/]]) {
		const page = await site.blank();
		await page.addInitScript(lacks);
		await page.goto(site.at(`${FIRST}/index.html?lab`));
		await page.waitForSelector('.lab img');
		assert.match(await page.innerText('.lab'), says);
		await page.context().close();
	}
});

test('no page asked another host for anything, and no script failed', () => {
	assert.deepEqual(site.foreign, []);
	assert.deepEqual(site.errors, []);
});
