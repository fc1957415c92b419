// The book as pages: all of it is there, nothing of it leads nowhere, nothing comes
// from another host, and it can be read without JavaScript and on a telephone.
import assert from 'node:assert/strict';
import {existsSync, readdirSync, readFileSync} from 'node:fs';
import {dirname, join, normalize} from 'node:path';
import test, {after, before} from 'node:test';
import {accessible, openSite} from './browser.mjs';

const OUT = 'build/web';
const pages = readdirSync(OUT, {recursive: true}).filter(x => x.endsWith('.html') &&
	!x.startsWith('web/page/'));
const html = new Map(pages.map(x => [x, readFileSync(join(OUT, x), 'utf8')]));
const chapters = readdirSync('.').filter(x => /^\d\d_/.test(x));
let site;

before(async () => { site = await openSite(); });
after(() => site.close());

test('every chapter, its exercises and every page of docs is there', () => {
	for (const chapter of chapters)
		for (const path of ['', '/exercises'].filter(x => existsSync(`${chapter}${x}/README.md`))
			.map(x => `${chapter}${x}/index.html`))
			assert.ok(html.has(path), path);
	for (const name of readdirSync('docs').filter(x => x.endsWith('.md')))
		assert.ok(html.has(`docs/${name.replace('.md', '.html')}`), name);
});

test('every relative link leads to a file and to an anchor in it', () => {
	const wrong = [];
	for (const [path, text] of html)
		for (const [, link] of text.matchAll(/ (?:href|src)="([^"]*)"/g)) {
			if (/^(https?:|data:|mailto:)/.test(link))
				continue;
			const [file, hash] = link.replaceAll('&amp;', '&').split('#');
			const target = file ? normalize(join(dirname(path), decodeURI(file))) : path;
			if (!existsSync(join(OUT, target)))
				wrong.push(`${path}: ${link}`);
			else if (hash && html.has(target) &&
				 !new RegExp(`(id|name)="${decodeURI(hash).replace(/[.*+?^$()]/g, '\\$&')}"`)
					.test(html.get(target)))
				wrong.push(`${path}: ${link}: no such anchor`);
		}
	assert.deepEqual(wrong, []);
});

test('nothing is absolute, and nothing is loaded from elsewhere', () => {
	for (const [path, text] of html) {
		assert.doesNotMatch(text, / (?:href|src)="\//, path);
		assert.doesNotMatch(text, /<(?:script|img|link|iframe)[^>]*(?:src|href)="https?:/, path);
		assert.doesNotMatch(text, /@import/, path);
	}
});

test('each page says its language and title, and has one main heading', () => {
	for (const [path, text] of html) {
		assert.match(text, /<html lang="en-GB">/, path);
		assert.match(text, /<title>[^<]+<\/title>/, path);
		assert.equal(text.match(/<h1/g)?.length, 1, path);
	}
});

test('Mermaid is drawn when the page is built', () => {
	const sources = chapters.filter(x =>
		readFileSync(`${x}/README.md`, 'utf8').includes('```mermaid'));
	assert.ok(sources.length);
	for (const chapter of sources) {
		assert.match(html.get(`${chapter}/index.html`), /<figure class="mermaid">.*<svg role="img" aria-label="/s);
		assert.doesNotMatch(html.get(`${chapter}/index.html`), /sequenceDiagram\n/);
	}
});

test('each part is named with its version, its licence and its source', () => {
	const inside = html.get('web/inside.html');
	const rows = [...inside.matchAll(/<tr><td>(.*?)<\/tr>/g)].map(x => x[1].split('</td><td>'));
	const lock = Object.entries(JSON.parse(readFileSync('web/package-lock.json', 'utf8')).packages);
	for (const [path, {version}] of lock.filter(([path]) => path))
		assert.ok(rows.some(x => path.endsWith(`node_modules/${x[0]}`) && x[1] === version), path);
	if (existsSync(`${OUT}/web/lab/state.zst`)) {
		const packed = readFileSync('web/rootfs/packages', 'utf8').split('\n')
			.filter(x => x && x[0] !== '#').map(x => x.split('\t')[0]);
		for (const name of [...packed, 'linux-source-6.1', 'seabios']) {
			const found = rows.find(x => x[0] === name);
			assert.ok(found, name);
			assert.match(found[2], /href="licences\//, name);
			assert.match(found[3], /href="https:\/\/snapshot.debian.org\/package\/[^/"]+\/[^/"]+\//, name);
		}
	}
});

test('without JavaScript, a chapter is all text, and the menu works', async () => {
	const page = await site.open(`${chapters[0]}/index.html`, {javaScriptEnabled: false});
	assert.ok((await page.innerText('main')).length > 10_000);
	await page.click('.menu summary');
	assert.ok(await page.isVisible('.menu a[aria-current=page]'));
	assert.ok(!await page.isVisible('.search'));
	await page.context().close();
});

test('where a chapter says how to run it, the page runs it, and folds the shell\'s way', async () => {
	for (const chapter of chapters) {
		const [, run] = /class="here later" data-run="(\w+)"/.exec(html.get(`${chapter}/index.html`)) ?? [];
		assert.ok(existsSync(`${chapter}/expected/${run}/commands`), `${chapter}: ${run}`);
		for (const [, name] of html.get(`${chapter}/index.html`).matchAll(/class="here later" data-case="(\w+)"/g))
			assert.ok(existsSync(`${chapter}/break/${name}`), `${chapter}: ${name}`);
	}
	const path = `${chapters[0]}/index.html`, plain = await site.open(path, {javaScriptEnabled: false});
	assert.ok(await plain.isVisible('details.shell pre'));
	assert.equal(await plain.locator('button.here:visible').count(), 0);
	await plain.context().close();
	const page = await site.open(path);
	await page.waitForSelector('button.here[data-run]');
	assert.ok(!await page.isVisible('details.shell pre'));
	await page.getByText('In a shell').click();
	assert.ok(await page.isVisible('details.shell pre'));
	await page.context().close();
});

test('on 390 pixels nothing is wider than the window', async () => {
	const page = await site.open('index.html', {viewport: {width: 390, height: 800}});
	for (const path of [...chapters.map(x => `${x}/index.html`), 'docs/glossary.html',
		'docs/concepts.html', `${chapters[0]}/rdma.c.html`]) {
		await page.goto(site.at(path));
		assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390, path);
	}
	await page.context().close();
});

test('axe-core finds nothing serious on the front page, a chapter, a case and a long table', async () => {
	const page = await site.open('index.html', {viewport: {width: 1400, height: 900}});
	for (const path of ['index.html', `${chapters[0]}/index.html`, `${chapters[0]}/break/no_recv/index.html`, 'docs/glossary.html']) {
		await page.goto(site.at(path));
		await accessible(page, path);
	}
	await page.context().close();
});

test('the search finds a word, and its result is there', async () => {
	const page = await site.open(`${chapters[0]}/index.html`);
	await page.keyboard.press('/');
	await page.keyboard.type('protection domain');
	await page.waitForSelector('.found a');
	await page.keyboard.press('Enter');
	await page.waitForURL(/#/);
	const hash = new URL(page.url()).hash.slice(1);
	assert.ok(await page.evaluate(id => Boolean(document.getElementById(id)), hash));
	await page.context().close();
});

test('the theme is the reader\'s choice, and stays', async () => {
	const page = await site.open('index.html', {colorScheme: 'light'});
	const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
	const light = await paper();
	await page.click('button.theme');
	assert.notEqual(await paper(), light);
	await page.reload();
	assert.notEqual(await paper(), light);
	await page.context().close();
});

test('one page leads to the next, and back', async () => {
	const page = await site.open(`${chapters[0]}/index.html`);
	await page.click('a[rel=next]');
	await page.waitForURL(new RegExp(chapters[1]));
	await page.click('a[rel=prev]');
	await page.waitForURL(new RegExp(chapters[0]));
	await page.context().close();
});

test('no page asked another host for anything, and no script failed', () => {
	assert.deepEqual(site.foreign, []);
	assert.deepEqual(site.errors, []);
});
