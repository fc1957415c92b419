// What a server says that workers and pictures may load and run; policy.browser.mjs has the pages.
import assert from 'node:assert/strict';
import {mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {request} from 'node:http';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import test from 'node:test';
import {headerOf, policyOf} from '../../web/site/csp.mjs';
import {layout} from '../../web/site/layout.mjs';
import {serve} from '../../web/serve.mjs';

const page = chapter => layout({place: 'docs/a.html', title: 'A', html: '<h1>A</h1>', chapter},
	{menu: [], order: [], name: 'B'});

test('only the two workers that compile the emulator may compile WebAssembly', () => {
	const may = place => headerOf(place, page()).includes('wasm-unsafe-eval');
	assert.ok(may('web/page/node_worker.js') && may('web/page/unpack_worker.js'));
	for (const place of ['index.html', 'service_worker.js', 'web/page/book.js',
		'web/page/lab.js', '01_send_recv/node_worker.js'])
		assert.ok(!may(place), place);
	for (const place of ['web/page/node_worker.js', 'web/page/unpack_worker.js', 'service_worker.js',
		'a.svg', 'index.html']) {
		const header = headerOf(place, page());
		assert.doesNotMatch(header, /unsafe-eval'(?<!wasm-unsafe-eval')|\*|https?:/);
		assert.equal(header.includes('blob:'), place === 'web/page/node_worker.js', place);
	}
});

test('the server of web/serve.sh sends the policy, and gives nothing from outside', async t => {
	const top = mkdtempSync(join(tmpdir(), 'web-serve-')), folder = join(top, 'web');
	mkdirSync(folder);
	writeFileSync(join(top, 'secret'), 'secret');
	writeFileSync(join(folder, 'index.html'), page('01_send_recv'));
	const server = await serve(folder), {address, port} = server.address();
	t.after(() => {
		server.close();
		rmSync(top, {recursive: true});
	});
	assert.equal(address, '127.0.0.1');
	const get = path => fetch(`http://127.0.0.1:${port}${path}`);
	const {headers} = await get('/');
	assert.equal(headers.get('content-security-policy'),
		`${policyOf({chapter: 'x'})}; frame-ancestors 'none'`);
	assert.equal(headers.get('x-content-type-options'), 'nosniff');
	// As it is, which fetch would not ask for.
	const raw = path => new Promise(resolve => request({port, path}, x => {
		x.resume();
		resolve(x.statusCode);
	}).end());
	for (const path of ['/../secret', '/%2e%2e/secret', '/..%2fsecret', '//../secret', '/nothing', '/%'])
		assert.equal(await raw(path), 404, path);
});

// As a reader starts it: serve.sh needs no more than node.
test('web/serve.sh shows what that server gives', () =>
	assert.match(readFileSync('web/serve.sh', 'utf8'), /^exec node "\$top\/web\/serve\.mjs" "\$top\/build\/web" "\$port"$/m));
