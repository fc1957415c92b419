// The service worker keeps a file only under the hash that the file has.
import assert from 'node:assert/strict';
import {createHash, webcrypto} from 'node:crypto';
import {readFileSync} from 'node:fs';
import test from 'node:test';
import vm from 'node:vm';

const CODE = readFileSync('web/page/service_worker.js', 'utf8');
const SITE = 'https://example.org/book/', SCRIPT = `${SITE}web/page/book.js`;
const OLD = 'old book.js', NEW = 'new book.js, with a fix';
const hash = text => createHash('sha256').update(text).digest('hex');

// A browser with its HTTP cache, which holds for ten minutes as GitHub's Pages say,
// and a server, which has {address: text}.
function browser(server) {
	const world = {server, store: new Map(), http: new Map(), now: 0, told: [], updates: 0};
	const cache = {
		keys: async () => [...world.store.keys()].map(url => ({url})),
		delete: async ({url}) => world.store.delete(url),
		match: async key => world.store.get(key)?.clone(),
		put: async (key, response) => void world.store.set(key, response)};
	const get = async (request, {cache: how = request.cache ?? 'default'} = {}) => {
		const url = request.url ?? String(request), known = world.http.get(url);
		if (how === 'default' && known && world.now - known.at < 600)
			return new Response(known.text);
		if (!(url in world.server))
			return new Response('', {status: 404});
		world.http.set(url, {text: world.server[url], at: world.now});
		return new Response(world.server[url]);
	};
	// A worker that was published with these files.
	world.worker = files => {
		const on = {}, list = Object.fromEntries(Object.entries(files)
			.map(([url, text]) => [url.slice(SITE.length), hash(text)]));
		const self = {registration: {scope: SITE, update: async () => { world.updates++; }},
			skipWaiting() {}, addEventListener: (type, f) => { on[type] = f; },
			clients: {claim: async () => {},
				matchAll: async () => [{postMessage: x => world.told.push(x.trouble)}]}};
		vm.runInNewContext(CODE.replace('/* FILES */ {}', JSON.stringify(list)), {self, fetch: get,
			caches: {open: async () => cache}, URL, Request, Response, crypto: webcrypto, Uint8Array,
			location: new URL(SITE), console: {error() {}}});
		const until = (type, event) => new Promise(resolve => on[type]({...event,
			waitUntil: resolve, respondWith: resolve}));
		return {
			activate: () => until('activate', {}),
			async get(url, mode = 'cors') {
				const response = await until('fetch', {request: {method: 'GET', url, mode}});
				return response.type === 'error' ? 'an error' : response.text();
			},
			keep: urls => new Promise(resolve => until('message',
				{data: {keep: urls}, ports: [{postMessage: resolve}]}))};
	};
	return world;
}

// Whatever is kept is under its own hash.
async function assertHonest({store}) {
	for (const [key, response] of store)
		assert.equal(new URL(key).searchParams.get('hash'), hash(await response.clone().text()), key);
}

test('what was kept answers, and without a network', async () => {
	const world = browser({[SCRIPT]: OLD}), worker = world.worker({[SCRIPT]: OLD});
	assert.equal(await worker.get(SCRIPT), OLD);
	world.server = {};
	world.now = 86400;
	assert.equal(await worker.get(SCRIPT), OLD);
	assert.equal(world.store.size, 1);
	await assertHonest(world);
});

test('what the browser has kept of the files before is not taken for the new one', async () => {
	const world = browser({[SCRIPT]: OLD}), first = world.worker({[SCRIPT]: OLD});
	await first.get(SCRIPT);
	world.store.clear();
	Object.assign(world, {server: {[SCRIPT]: NEW}, now: 60});
	const second = world.worker({[SCRIPT]: NEW});
	await second.activate();
	assert.equal(await second.get(SCRIPT), NEW);
	world.now = 86400;
	assert.equal(await second.get(SCRIPT), NEW);
	assert.deepEqual(world.told, []);
	await assertHonest(world);
});

test('another file than the one that was published is told, and not kept', async () => {
	const world = browser({[SCRIPT]: NEW}), worker = world.worker({[SCRIPT]: OLD});
	assert.equal(await worker.get(SCRIPT), 'an error');
	assert.match(world.told[0], /^\/book\/web\/page\/book\.js on the server is not the file .* reload this page\.$/);
	assert.equal(world.updates, 1);
	assert.equal(await worker.get(SCRIPT, 'navigate'), NEW);
	assert.equal(world.store.size, 0);
	// When the server has the right one again, that is kept.
	world.server[SCRIPT] = OLD;
	assert.equal(await worker.get(SCRIPT), OLD);
	await assertHonest(world);
});

test('all is kept only if each file is', async () => {
	const other = `${SITE}index.html`, files = {[SCRIPT]: OLD, [other]: 'text'};
	const world = browser({[SCRIPT]: NEW, [other]: 'text'}), worker = world.worker(files);
	assert.equal(await worker.keep([SCRIPT, other]), false);
	world.server = {};
	assert.equal(await worker.keep([SCRIPT]), false);
	world.server = {[SCRIPT]: OLD};
	assert.equal(await worker.keep([SCRIPT, other]), true);
	await assertHonest(world);
});

test('what an earlier worker kept is forgotten if its hash is another', async () => {
	const world = browser({[SCRIPT]: OLD});
	await world.worker({[SCRIPT]: OLD}).get(SCRIPT);
	await world.worker({[SCRIPT]: NEW}).activate();
	assert.equal(world.store.size, 0);
});
