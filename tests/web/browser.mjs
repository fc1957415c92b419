// A server of build/web on loopback, and Chromium, for the tests of the pages.
import {createServer} from 'node:http';
import {readFile} from 'node:fs/promises';
import {extname, join, normalize} from 'node:path';
import {createRequire} from 'node:module';

const {chromium} = createRequire(new URL('../../web/package.json', import.meta.url))('playwright-core');
const TYPES = {'.html': 'text/html', '.js': 'text/javascript', '.mjs': 'text/javascript',
	'.css': 'text/css', '.json': 'application/json', '.svg': 'image/svg+xml',
	'.wasm': 'application/wasm'};

async function serve(folder) {
	const server = createServer(async (request, response) => {
		const path = normalize(decodeURI(new URL(request.url, 'http://x').pathname));
		try {
			const file = path.endsWith('/') ? `${path}index.html` : path;
			const data = await readFile(join(folder, file));
			response.writeHead(200, {'Content-Type': TYPES[extname(file)] ?? 'application/octet-stream'});
			response.end(data);
		} catch {
			response.writeHead(404).end();
		}
	});
	await new Promise(resolve => server.listen(0, '127.0.0.1', resolve));
	return server;
}

// {at(path), open(path, options), foreign: [], close()}
export async function openSite() {
	const server = await serve('build/web');
	const browser = await chromium.launch({executablePath: '/usr/bin/chromium',
		args: ['--no-sandbox']});
	const site = {foreign: [], errors: [],
		at: path => `http://127.0.0.1:${server.address().port}/${path}`};
	site.open = async (path, options = {}) => {
		const context = await browser.newContext(options);
		const page = await context.newPage();
		context.on('request', request => {
			const {protocol, hostname} = new URL(request.url());
			if (/^http/.test(protocol) && hostname !== '127.0.0.1')
				site.foreign.push(request.url());
		});
		page.on('pageerror', error => site.errors.push(`${path}: ${error.message}`));
		await page.goto(site.at(path));
		return page;
	};
	site.close = async () => {
		await browser.close();
		server.close();
	};
	return site;
}
