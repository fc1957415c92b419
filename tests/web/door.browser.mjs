// The front page in Chromium: one button, and the first message crosses; then it is
// held, lost and changed. What is seen together, on a large screen and on a small one.
import assert from 'node:assert/strict';
import test, {after, before} from 'node:test';
import {PATIENCE, accessible, askLab, inside, openSite} from './browser.mjs';

const options = {timeout: PATIENCE};
const FIRST = '01_send_recv';
let site;

before(async () => { site = await openSite({policy: true}); });
after(() => site.close());

async function press(viewport) {
	const page = await site.open('index.html', {viewport});
	const asked = askLab(page), clicked = Date.now();
	await page.waitForSelector('.door .start');
	assert.match(await page.innerText('.door .cost'), /14 MB.*600 MB/);
	await page.getByRole('button', {name: 'Send the first message'}).click();
	await asked.until('window.lab', 'the lab opens');
	await asked.until('lab.packets().some(x => x.kind === "SEND Only")', 'the message crosses');
	const took = Date.now() - clicked;
	await said(asked, 'You have seen');
	return {page, took, ...asked};
}

const said = ({until}, text) => until(
	`document.querySelector('.seen [role=status]')?.textContent.includes(${JSON.stringify(text)})`, text);
test('one button: the message crosses, and a line says what was seen', options, async t => {
	const {page, took, ...asked} = await press({width: 1400, height: 900});
	t.diagnostic(`from the click to the message on the wire: ${took} ms`);
	assert.match(await asked.run('return lab.screen("a")'), /\$ \.\/first\n[^]*received message/);
	assert.match(await asked.run('return lab.screen("b")'), /\$ \.\/first 192\.0\.2\.1\n/);
	for (const part of ['.screen', '.ladder-box'])
		assert.ok(await inside(page, part), `${part} is in the window`);
	assert.ok(await page.isVisible('.wire button'));

	// In one run it was not sent again within the ten seconds; then the line says that.
	await page.getByRole('button', {name: 'Lose it'}).click();
	await said(asked, 'never arrived');
	assert.equal(await page.locator('.ladder .packet.lost').count(), 1);
	assert.equal(await page.locator('.ladder .packet.again').count() >= 1,
		(await page.innerText('.seen')).includes('the same PSN'));

	await page.getByRole('button', {name: 'Hold it, and step'}).click();
	await said(asked, 'waits at the wire');
	await asked.until('lab.packets().some(x => x.fate === "waits")', 'a packet waits');
	await page.getByRole('button', {name: 'Let one go'}).click();
	await asked.run('lab.wire({hold: false})');
	await said(asked, 'You have seen');

	await page.getByRole('button', {name: 'Change it'}).click();
	await page.waitForSelector('.cm-content[aria-label="first.c"]');
	assert.match(await page.innerText('.cm-activeLine'), /message from %s/);
	await page.locator('.ladder .packet').first().click();
	await accessible(page, 'the lab');
	await page.context().close();
});

test('on a telephone, the ladder is first, nothing is wider than the screen, and no mouse is needed', options, async () => {
	const {page, run, until} = await press({width: 390, height: 844});
	assert.ok(await page.isVisible('.ladder') && !await page.isVisible('.terminals'));
	const small = await page.$eval('.ladder text.small', x => x.getBoundingClientRect());
	assert.ok(small.height >= 9, `a label is ${small.height} pixels high`);
	await accessible(page, 'the lab on a telephone');
	for (const name of ['Wire', 'Chapter', 'Ladder', 'Terminals']) {
		await page.getByRole('button', {name, exact: true}).press('Enter');
		assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390, name);
	}
	assert.ok(!await page.isVisible('.ladder') && await page.isVisible('.terminals'));
	await page.locator('.xterm-helper-textarea').first().focus();
	await page.keyboard.type('echo $((6 * 7))\n');
	await until('/^42$/m.test(lab.screen("a"))', 'the shell answers');
	await page.keyboard.press('Shift+Tab');
	assert.ok(!await page.evaluate(`document.activeElement.matches('.xterm-helper-textarea')`));
	await page.getByRole('button', {name: 'Chapter', exact: true}).press('Enter');
	await page.getByRole('tab', {name: 'Run'}).focus();
	await page.keyboard.press('ArrowRight');
	await page.keyboard.press('Enter');
	assert.equal(await page.getByRole('tab', {selected: true}).innerText(), 'Break it');
	await page.getByRole('tab', {name: 'Run'}).press('Enter');
	await page.getByRole('button', {name: 'Run', exact: true}).press('Enter');
	await until(`document.querySelector('.lab .good')`, 'the run matches');
	await page.locator('.ladder .packet').first().press('Enter');
	assert.match(await page.innerText('.details'), /ConnectRequest/);
	assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390);
	await page.context().close();
});

test('a browser that cannot run it says so before anything is loaded', options, async () => {
	const page = await site.blank();
	await page.addInitScript('delete globalThis.WebAssembly');
	await page.goto(site.at('index.html'));
	await page.waitForSelector('.door img');
	assert.match(await page.innerText('.door'), /no WebAssembly/);
	assert.equal(await page.locator('.door .start').count(), 0);
	await page.context().close();
});

test('no page asked another host for anything, and no script failed', () => {
	assert.deepEqual(site.foreign, []);
	assert.deepEqual(site.errors, []);
});
