// The pages' Content-Security-Policy in Chromium, as a page says it and as a server may
// send it; and the service worker, when the server has other files than it was
// published with.
import assert from 'node:assert/strict';
import {readFileSync, readdirSync} from 'node:fs';
import {createServer} from 'node:http';
import test, {after, before} from 'node:test';
import {askLab, openSite} from './browser.mjs';

const OUT = 'build/web', FIRST = '01_send_recv';
const files = readdirSync(OUT, {recursive: true}).filter(x => x.endsWith('.html'));
const html = new Map(files.map(x => [x, readFileSync(`${OUT}/${x}`, 'utf8')]));
let site, strict, elsewhere, asked = [];

before(async () => {
	site = await openSite();
	strict = await openSite({policy: true});
	// Another origin, which nobody shall ask for anything.
	elsewhere = createServer((request, response) => {
		asked.push(request.url);
		response.end();
	});
	await new Promise(resolve => elsewhere.listen(0, '127.0.0.1', resolve));
});
after(async () => {
	elsewhere.close();
	await site.close();
	await strict.close();
});

test('every page says its policy, and none has a script in it', () => {
	for (const [place, text] of html) {
		assert.match(text.slice(0, 200), /<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src '/, place);
		assert.doesNotMatch(text, /<script(?![^>]* src=)|<[^>]* on[a-z]+=|(href|src)="javascript:/, place);
	}
	assert.ok(html.size > 50);
});

// What text that is taken for HTML by mistake could do to a page: each sets window.ran,
// or asks the other origin for something.
const ATTACKS = {
	'an inline script': () => document.body.append(Object.assign(document.createElement('script'),
		{textContent: 'window.ran = true'})),
	'a handler': () => document.body.insertAdjacentHTML('beforeend', '<img src="x:" onerror="window.ran = true">'),
	'a link of code': () => document.body.appendChild(Object.assign(document.createElement('a'),
		{href: 'javascript:void(window.ran = true)'})).click(),
	'a script of text': () => document.body.append(Object.assign(document.createElement('script'),
		{src: 'data:text/javascript,window.ran=true'})),
	'a worker of text': () => {
		const worker = new Worker(URL.createObjectURL(new Blob(['postMessage(1)'])));
		worker.onmessage = () => { window.ran = true; };
	},
	'a request': other => void fetch(other).catch(() => {}),
	'a picture': other => document.body.append(Object.assign(new Image(), {src: other})),
	'a form': other => document.body.appendChild(Object.assign(document.createElement('form'),
		{action: other, method: 'post'})).submit(),
	'a frame': other => document.body.append(Object.assign(document.createElement('iframe'), {src: other})),
	'another base': other => document.head.append(Object.assign(document.createElement('base'), {href: other})),
};

// Which directive has refused it.
async function refused(page, attack) {
	await page.evaluate(`void (window.refused = new Promise(resolve =>
		addEventListener('securitypolicyviolation', x => resolve(x.effectiveDirective), {once: true})))`);
	await page.evaluate(attack, `http://127.0.0.1:${elsewhere.address().port}/`);
	return Promise.race([page.evaluate('window.refused'), page.waitForTimeout(10_000)]);
}

for (const place of ['index.html', `${FIRST}/index.html`, `${FIRST}/rdma.c.html`])
	test(`${place} runs nothing that is put into it, and asks nobody else`, async () => {
		const page = await site.open(place), before = page.url();
		for (const [name, attack] of Object.entries(ATTACKS))
			assert.ok(await refused(page, attack), name);
		assert.equal(await page.evaluate('window.ran'), undefined);
		assert.equal(page.url().split('#')[0], before);
		await page.context().close();
		assert.deepEqual(asked, []);
		// Each refusal was also written to the console.
		assert.ok(site.errors.splice(0).every(x => /content.security.policy/i.test(x)));
	});

for (const [name, sends] of [['as a page says it', false], ['as a server sends it', true]])
	test(`under the policy ${name}, pages work`, async () => {
		const server = sends ? strict : site;
		const page = await server.open('index.html');
		for (const place of ['index.html', `${FIRST}/index.html`, '02_write_read/index.html', 'docs/concepts.html']) {
			await page.goto(server.at(place), {waitUntil: 'networkidle'});
			await page.click('button.theme');
			assert.match(await page.evaluate('document.documentElement.dataset.theme'), /dark|light/);
			assert.ok(await page.evaluate('[...document.images].every(x => x.complete && x.naturalWidth)'), place);
		}
		await page.context().close();
		assert.deepEqual(server.errors, []);
	});

test('a server may say what a page cannot: nobody puts it into a frame', async () => {
	const page = await strict.blank();
	const told = page.waitForEvent('console', {predicate: x => /frame-ancestors/.test(x.text())});
	await page.setContent(`<iframe src="${strict.at('index.html')}"></iframe>`);
	await told;
	await page.context().close();
	assert.ok(strict.errors.splice(0).every(x => x.includes('frame-ancestors')));
});

// What the service worker has kept: addresses.
const kept = page => page.evaluate(async () => {
	const cache = await caches.open('rdma-by-example');
	return (await cache.keys()).map(x => new URL(x.url).pathname.slice(1));
});

test('what the server has instead of a file is not kept, and the page says so', async () => {
	const page = await site.open('index.html'), other = 'docs/glossary.html';
	const {until} = askLab(page);
	await until('navigator.serviceWorker.controller', 'there is a service worker');
	site.changed[other] = readFileSync(`${OUT}/${other}`, 'utf8').replace('<h1', '<h1 data-other');
	site.changed['web/search.json'] = '{}';
	await page.goto(site.at(other));
	await page.waitForSelector('main .trouble');
	assert.match(await page.innerText('main .trouble'), /^\/docs\/glossary\.html on the server is not the file .*reload this page\.$/);
	assert.ok(await page.isVisible('h1[data-other]'));
	assert.match(await page.evaluate(() => fetch('../web/search.json').then(x => x.text(), x => x.message)), /failed to fetch/i);
	assert.deepEqual((await kept(page)).filter(x => x in site.changed), []);
	site.changed = {};
	await page.reload();
	await until(`caches.open('rdma-by-example').then(x => x.keys()).then(x =>
		x.some(x => x.url.includes('${other}')))`, 'the right file is kept');
	assert.ok(await page.isHidden('h1[data-other]'));
	await page.context().close();
});

test('no page asked another host for anything, and no script failed', () => {
	for (const {foreign, errors} of [site, strict]) {
		assert.deepEqual(foreign, []);
		assert.deepEqual(errors, []);
	}
});
