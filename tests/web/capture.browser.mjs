// The page that opens a capture, in Chromium.
import assert from 'node:assert/strict';
import {mkdtempSync, readFileSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import test, {after, before} from 'node:test';
import {accessible, askLab, openSite} from './browser.mjs';

const BROKEN = 'tests/fixtures/captures', folder = mkdtempSync(join(tmpdir(), 'capture-'));
let site, page, until;

before(async () => {
	site = await openSite({policy: true});
	page = await site.open('index.html', {viewport: {width: 390, height: 844}});
	await page.getByRole('link', {name: 'Open a capture'}).click();
	await page.waitForSelector('.drop');
	({until} = askLab(page));
});
after(async () => {
	await site.close();
	rmSync(folder, {recursive: true});
});

const open = async path => {
	await page.locator('.drop input').setInputFiles(path);
	await until('document.querySelector(".happened li")', 'the capture is read');
};

test('a capture becomes a ladder, and what happened is said and leads to the book', async () => {
	// By the page and its workers; what the service worker keeps for later is not counted.
	const asked = [], ask = request => asked.push(new URL(request.url()).pathname);
	page.on('request', ask);
	await open(`${BROKEN}/02_write_read.four_mistakes.pcapng`);
	assert.match(await page.innerText('.happened li.bad'), /Remote Access Error/);
	assert.equal(await page.locator('.ladder .packet.nak').count(), 4);
	await page.locator('.ladder .packet.nak').first().click();
	assert.match(await page.innerText('.details'), /From 192\.0\.2\.1 to 192\.0\.2\.2[^]*syndrome/);
	assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390);
	for (const width of [1400, 390]) {
		await page.setViewportSize({width, height: 844});
		// It is drawn anew for its width.
		await until('document.querySelector(".ladder-box").clientHeight > 200', `the ladder is seen at ${width} pixels`);
	}
	await accessible(page, 'a capture');
	assert.match(await page.locator('.ladder .packet').first().getAttribute('aria-label'),
		/^ConnectRequest QPN .*, 192\.0\.2\.2 to 192\.0\.2\.1$/);
	// Only the worker's own modules were asked for.
	page.off('request', ask);
	assert.ok(asked.length > 0 && asked.every(path => path.endsWith('.js')), asked.join());
	const bytes = asked.map(path => statSync(`build/web${path}`).size).reduce((a, b) => a + b);
	assert.ok(bytes < 60_000, `${bytes} bytes`);
	await page.locator('.happened a').click();
	await page.waitForURL(/troubleshooting\/\w+\.html#/);
	assert.ok(await page.evaluate('Boolean(document.getElementById(location.hash.slice(1)))'));
	await page.goBack();
	await page.waitForSelector('.drop');
});

test('what is no capture is said to be none; what is written in one is text', async () => {
	writeFileSync(join(folder, 'none.pcap'), 'this is no capture, though it is long enough to be one');
	await open(join(folder, 'none.pcap'));
	assert.match(await page.innerText('.state'), /neither pcap nor pcapng/);
	const bytes = readFileSync(`${BROKEN}/04_tls_psn.plain_tcp_peer.pcapng`), at = bytes.indexOf('HELLO RDMA 1');
	bytes.write('<img src=x>', at);
	writeFileSync(join(folder, '<img src=x onerror=alert(1)>.pcap'), bytes);
	await open(join(folder, '<img src=x onerror=alert(1)>.pcap'));
	await until('document.querySelector(".ladder")?.textContent.includes("<img src=x>")', 'it is text');
	assert.equal(await page.locator('.crossed img, .state img').count(), 0);
});

test('a long capture is read while the page goes on', async t => {
	const whole = readFileSync('05_multiclient/expected/wire.pcapng');
	const count = Math.ceil(Number(process.env.CAPTURE_MB ?? 10) * 1e6 / whole.length);
	writeFileSync(join(folder, 'long.pcapng'), Buffer.concat(Array.from({length: count}, () => whole)));
	await page.evaluate(`(() => { let last = performance.now(); window.stood = 0; setInterval(() => {
		window.stood = Math.max(window.stood, performance.now() - last); last = performance.now(); }, 10); })()`);
	const began = Date.now();
	await page.evaluate('document.querySelector(".happened").replaceChildren()');
	await open(join(folder, 'long.pcapng'));
	const took = Date.now() - began;
	await until('document.querySelectorAll(".ladder .packet").length === 2000', 'all of them are drawn');
	t.diagnostic(`${(count * whole.length / 1e6).toFixed(0)} MB in ${took} ms; the page stood for ${
		Math.round(await page.evaluate('window.stood'))} ms at most`);
	assert.match(await page.innerText('.state'), /The first 2000 are drawn/);
	assert.ok(await page.evaluate('window.stood') < 2000);
});

test('no page asked another host for anything, and no script failed', () => {
	assert.deepEqual(site.foreign, []);
	assert.deepEqual(site.errors, []);
});
