// A server of build/web on loopback, and Chromium, for the tests of the pages; with
// BROWSER=firefox, Firefox.
import {readFileSync, readdirSync} from 'node:fs';
import assert from 'node:assert/strict';
import {createRequire} from 'node:module';
import {serve} from '../../web/serve.mjs';

const {chromium, firefox} = createRequire(new URL('../../web/package.json', import.meta.url))('playwright-core');
// Debian's, both of them. The channel is what Firefox is driven by, as it is: without
// it, playwright wants a Firefox of its own.
const BROWSERS = {
	chromium: () => chromium.launch({executablePath: '/usr/bin/chromium', args: ['--no-sandbox']}),
	firefox: () => firefox.launch({executablePath: '/usr/bin/firefox-esr', channel: 'moz-firefox'}),
};
// policy: whether the server sends one, as that of web/serve.sh does; GitHub's Pages
// send none. How long a file may be kept, Pages do say; they would also compress.
//
// {at(path), blank(options), open(path, options), offline(), online(), foreign: [],
// errors: [], sent: bytes that left the server, changed: {place: text}, close()}
export async function openSite({policy = false} = {}) {
	const site = {foreign: [], errors: [], sent: 0, changed: {}};
	const settings = {policy, cache: 'max-age=600', sent: size => { site.sent += size; },
		change: (place, data) => site.changed[place] ?? data};
	let server = await serve('build/web', settings);
	const {port} = server.address();
	const browser = await BROWSERS[process.env.BROWSER ?? 'chromium']();
	site.at = path => `http://127.0.0.1:${port}/${path}`;
	site.blank = async (options = {}) => {
		const context = await browser.newContext(options);
		context.on('request', request => {
			const {protocol, hostname} = new URL(request.url());
			if (/^http/.test(protocol) && hostname !== '127.0.0.1')
				site.foreign.push(request.url());
		});
		context.on('page', page => page.on('pageerror', error =>
			site.errors.push(`${page.url()}: ${error.message}`)));
		context.on('console', message => {
			if (/content.security.policy/i.test(message.text()))
				site.errors.push(`${message.page()?.url()}: ${message.text()}`);
		});
		return context.newPage();
	};
	site.open = async (path, options) => {
		const page = await site.blank(options);
		await page.goto(site.at(path));
		return page;
	};
	site.offline = async () => {
		server.closeAllConnections();
		await new Promise(resolve => server.close(resolve));
	};
	site.online = async () => { server = await serve('build/web', {...settings, port}); };
	site.close = async () => {
		await browser.close();
		server.close();
	};
	return site;
}

// A function that does its work when it is first called.
export function once(what) {
	let result;
	return () => result ??= what();
}

// Machines are slow and busy; nothing here is about speed.
export const PATIENCE = 300_000;
const LOOK_MS = 50;

export const CHAPTERS = readdirSync('.').filter(x => /^\d\d_/.test(x));
// What the lab in the page knows of a chapter: its runs, cases and exercises.
export const labData = chapter =>
	JSON.parse(readFileSync(`build/web/web/lab/${chapter}.json`, 'utf8'));

// What a page with a lab is asked: run(code) is what window.lab says, until(code,
// what) waits for it to become true.
export function askLab(page) {
	page.setDefaultTimeout(PATIENCE);
	return {
		run: code => page.evaluate(`(async () => { ${code} })()`),
		until: (code, what) => until(page, code, what),
	};
}

// Waits until code is true in the page. Playwright itself would make code of the text
// again and again within the page, which the page's policy forbids.
async function until(page, code, what) {
	for (const end = Date.now() + PATIENCE;;) {
		// On the way to another page, there may be nobody to ask.
		const said = await page.evaluate(`(async () => Boolean(await (${code})))()`)
			.catch(error => error);
		if (said === true)
			return;
		if (Date.now() > end)
			assert.fail(`never: ${what}${said ? `: ${said.message}` : ''}`);
		await page.waitForTimeout(LOOK_MS);
	}
}

// The same, for a page of its own, with the lab up.
export async function openLab(site, path, options = {}) {
	const page = await site.open(path, {viewport: {width: 1400, height: 900}, ...options});
	const asked = askLab(page);
	await asked.until('window.lab', 'the lab opens');
	await asked.run('await lab.ready()');
	return {page, ...asked};
}

// Whether all that a selector names is in the window, whole.
export const inside = (page, selector) => page.$$eval(selector, (all, [width, height]) => all.length > 0 &&
	all.every(x => {
		const {top, left, right, bottom, height: own} = x.getBoundingClientRect();
		return own > 100 && top >= 0 && left >= 0 && right <= width && bottom <= height;
	}), [page.viewportSize().width, page.viewportSize().height]);

// axe-core finds nothing that is serious, or critical, in either theme. The editor is
// CodeMirror's, with its own colours.
const axe = once(() => readFileSync('web/node_modules/axe-core/axe.min.js', 'utf8'));
export async function accessible(page, what) {
	await page.evaluate(axe());
	// Only colours differ in the other theme.
	for (const [colorScheme, rules] of [['light', {}], ['dark', {runOnly: ['color-contrast']}]]) {
		await page.emulateMedia({colorScheme});
		const {violations} = await page.evaluate(`axe.run({exclude: [[".cm-editor"]]}, ${JSON.stringify(rules)})`);
		assert.deepEqual(violations.filter(x => ['serious', 'critical'].includes(x.impact)).map(({id, nodes}) =>
			`${what}, ${colorScheme}: ${id}: ${nodes.map(x => x.html).join(' ').slice(0, 400)}`), []);
	}
}

// What a run with a third party at the wire must come to: docs/psn_security.md.
const FORGERIES = {
	open: {memory: 'forged: ', send: 'success', delivered: false},
	nothing: {memory: 'message from active', send: 'success', delivered: false},
	badkey: {memory: 'message from active', send: 'failed', delivered: false},
	told: {memory: 'forged: ', send: 'success', delivered: false},
	macsec: {memory: 'message from active', send: 'success', delivered: true},
	data: {memory: 'forged: ', send: 'success', delivered: true},
	ack: {memory: 'message from active', send: 'success', delivered: false},
	// Its message arrives, and the server may be through by then.
	nak: {memory: 'message from active', send: 'failed',
		says: {'client.err': /MSG_DONE: status 10 /, 'server.log': /status=0 .*opcode=128/}},
	rst: {memory: '', send: 'failed', delivered: false, says: {'server.err': /status 5 /}},
	sweep: {memory: '', send: 'failed', delivered: true, says: {'server.err': /byte 1 of the memory is 0x00 /}},
	'sweep random': {memory: 'message from active', send: 'success', delivered: true},
	dreq: {memory: '', send: 'failed', delivered: false,
		says: {'client.err': /MSG_MR: status 12 /, 'server.err': /status 5 /}},
	// What cannot be read cannot be forged: all is as if nobody were there.
	'data macsec': {memory: 'message from passive', send: 'success', delivered: true},
	'ack macsec': {memory: 'message from active', send: 'success', delivered: true},
	'nak macsec': {memory: 'message from active', send: 'success', delivered: true},
	'rst macsec': {memory: 'message from active', send: 'success', delivered: true},
	'dreq macsec': {memory: '', send: 'success', delivered: true},
};

export function assertForgery(link, result) {
	const {memory, send, delivered = result.delivered, says = {}} = FORGERIES[link], said = JSON.stringify(result);
	assert.ok(result.memory.startsWith(memory), said);
	assert.deepEqual({send: result.send, delivered: result.delivered}, {send, delivered}, said);
	for (const [log, words] of Object.entries(says))
		assert.match(result.logs[log], words, said);
	// Who cannot read tries behind each packet, or sends nothing; who can sends once.
	if (link === 'told' || link === 'macsec')
		assert.ok(result.forged > 0, said);
	else
		assert.equal(result.forged, link.endsWith(' macsec') ? 0 : link.startsWith('sweep') ? 256 : 1, said);
}

