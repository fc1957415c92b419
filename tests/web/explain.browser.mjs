// The box "What does this error mean?", in Chromium: on the front page and in
// troubleshooting, on a telephone, and without a network.
import assert from 'node:assert/strict';
import test, {after, before} from 'node:test';
import {accessible, askLab, openSite} from './browser.mjs';

const PLACES = ['index.html', 'docs/troubleshooting.html'], LINE = 'Failed status 12: wr_id 0 syndrom 0x81';
let site;

before(async () => { site = await openSite({policy: true}); });
after(() => site.close());

// Fills the box, and waits for an answer that has these words: the answer's text.
async function ask(page, text, words) {
	await page.locator('.ask textarea').fill(text);
	await askLab(page).until(`document.querySelector('.ask .answer').textContent.includes(${JSON.stringify(words)})`, words);
	return page.innerText('.ask .answer');
}

for (const place of PLACES)
	test(`${place}: a line leads to its entry, with the reason, and two others`, async () => {
		const page = await site.open(place, {viewport: {width: 1400, height: 900}});
		assert.match(await ask(page, LINE, 'sure: '), /^status 12 .*\(sure: .*12\)/);
		assert.equal(await page.locator('.ask .answer li').count(), 3);
		assert.equal(await page.locator('.ask .answer li small').nth(1).innerText().then(x => x.includes('sure')), false);
		await accessible(page, place);
		await page.locator('.ask .answer a').first().click();
		await page.waitForURL(/docs\/troubleshooting\/requests\.html#status-12$/);
		await page.context().close();
	});

test('of a log it is the first cause, with its line; of what no rule fits, the nearest words', async () => {
	const page = await site.open('index.html', {viewport: {width: 390, height: 844}});
	const log = 'all is well\nwc->status = 5 (Work Request Flushed Error)\nwc->status = 10 (remote access error)\n';
	assert.match(await ask(page, log, 'Line 3'), /^Line 3: wc->status = 10.*\n+status 10 /);
	assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390);
	assert.match(await ask(page, 'why is soft-roce so slow compared with tcp?', 'by their words'), /Why is Soft-RoCE slower than TCP\?/);
	assert.match(await ask(page, 'segmentation fault', 'Look for a line'), /all entries/);
	assert.match(await ask(page, `<img src=x onerror=alert(1)> ${LINE}\nx`, 'sure: '), /<img src=x/);
	assert.equal(await page.locator('.ask .answer img').count(), 0);
	await page.locator('.ask textarea').fill('');
	await askLab(page).until(`!document.querySelector('.ask .answer').childNodes.length`, 'nothing is asked, nothing is said');
	await page.context().close();
});

test('without a network, it answers the first question that it is asked', async () => {
	const page = await site.open('index.html');
	await askLab(page).until(`(async () => (await (await caches.open('rdma-by-example')).keys())
		.some(x => x.url.includes('explained.json')))()`, 'the table is kept');
	await page.reload();
	await site.offline();
	await page.reload();
	await ask(page, LINE, 'sure: ');
	await site.online();
	await page.context().close();
});

test('without JavaScript, there is no box', async () => {
	const page = await site.open('index.html', {javaScriptEnabled: false});
	assert.equal(await page.isVisible('.ask'), false);
	await page.context().close();
});

test('no page asked another host for anything, and no script failed', () => {
	assert.deepEqual(site.foreign, []);
	assert.deepEqual(site.errors, []);
});
