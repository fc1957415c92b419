// The front page in Chromium: one button, and the first message crosses; then it is
// held, lost and changed. What is seen together, on a large screen and on a small one.
import assert from 'node:assert/strict';
import test, {after, before} from 'node:test';
import {PATIENCE, askLab, openSite} from './browser.mjs';

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
const inside = (page, selector) => page.$$eval(selector, (all, [width, height]) => all.length > 0 &&
	all.every(x => {
		const {top, left, right, bottom, height: own} = x.getBoundingClientRect();
		return own > 100 && top >= 0 && left >= 0 && right <= width && bottom <= height;
	}), [page.viewportSize().width, page.viewportSize().height]);

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
	await page.context().close();
});

test('a chapter shows terminals, wire and ladder together', options, async () => {
	const page = await site.open(`${FIRST}/index.html?lab`, {viewport: {width: 1400, height: 900}});
	const {until, run} = askLab(page);
	await until('window.lab', 'the lab opens');
	await run(`await lab.ready(); await lab.run('${FIRST}', 'default')`);
	for (const part of ['.screen', '.ladder-box', '.wire'])
		assert.ok(await inside(page, part), `${part} is in the window`);
	await page.context().close();
});

test('on a telephone, the ladder is first, and nothing is wider than the screen', options, async () => {
	const {page} = await press({width: 390, height: 844});
	assert.ok(await page.isVisible('.ladder') && !await page.isVisible('.terminals'));
	const small = await page.$eval('.ladder text.small', x => x.getBoundingClientRect());
	assert.ok(small.height >= 9, `a label is ${small.height} pixels high`);
	for (const name of ['Terminals', 'Wire', 'Chapter', 'Ladder']) {
		await page.getByRole('button', {name, exact: true}).click();
		assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390, name);
	}
	await page.context().close();
});

// Rules that can be checked without another's program: everything that can be operated
// has a name, ids are unique, and what says that it controls something names it.
test('everything in the lab has a name, in both themes', options, async () => {
	const page = await site.open(`${FIRST}/index.html?lab`, {viewport: {width: 1400, height: 900}});
	await askLab(page).until('window.lab', 'the lab opens');
	await page.waitForSelector('.ladder-box');
	const wrong = await page.evaluate(() => {
		const name = x => x.getAttribute('aria-label') || x.ariaLabel || x.textContent.trim() ||
			[...x.labels ?? []].map(y => y.textContent).join('') ||
			document.getElementById(x.getAttribute('aria-labelledby'))?.textContent;
		const nameless = [...document.querySelectorAll('button, input, select, textarea, [role=tab], [role=tabpanel], [role=region]')]
			.filter(x => !name(x)).map(x => x.outerHTML.slice(0, 80));
		const ids = [...document.querySelectorAll('[id]')].map(x => x.id);
		const dangling = [...document.querySelectorAll('[aria-controls]')]
			.filter(x => !document.getElementById(x.getAttribute('aria-controls'))).map(x => x.outerHTML.slice(0, 80));
		return [...nameless, ...ids.filter((x, i) => ids.indexOf(x) !== i), ...dangling];
	});
	assert.deepEqual(wrong, []);
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
