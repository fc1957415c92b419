// serve.mjs - shows a folder of files on loopback, with the headers that they need
//
// usage: node web/serve.mjs FOLDER [PORT]     (by web/serve.sh)
//
// The tests of the pages have it, too: as it is, and without a policy of its own, as
// hosts of static files are.
import {createServer} from 'node:http';
import {readFile} from 'node:fs/promises';
import {extname, join, normalize} from 'node:path';
import {pathToFileURL} from 'node:url';
import {headerOf} from './site/csp.mjs';

const TYPES = {'.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.mjs': 'text/javascript',
	'.css': 'text/css', '.json': 'application/json', '.svg': 'image/svg+xml',
	'.png': 'image/png', '.txt': 'text/plain; charset=utf-8', '.wasm': 'application/wasm'};

// policy: whether it sends one; cache: what it says of keeping a file; sent(bytes): what
// has left; change(place, data): the data that it gives instead.
export async function serve(folder, {port = 0, policy = true, cache = 'no-cache',
	sent = () => {}, change = (place, data) => data} = {}) {
	const server = createServer(async (request, response) => {
		try {
			const path = normalize(decodeURI(new URL(request.url, 'http://x').pathname));
			const place = (path.endsWith('/') ? `${path}index.html` : path).slice(1);
			const data = change(place, await readFile(join(folder, place)));
			const header = policy && headerOf(place, place.endsWith('.html') ? data.toString() : '');
			response.writeHead(200, {'Cache-Control': cache,
				'Content-Type': TYPES[extname(place)] ?? 'application/octet-stream',
				'X-Content-Type-Options': 'nosniff',
				...header && {'Content-Security-Policy': header}});
			response.end(data);
			sent(data.length);
		} catch {
			response.writeHead(404).end();
		}
	});
	await new Promise((resolve, reject) => server.once('error', reject)
		.listen(port, '127.0.0.1', resolve));
	return server;
}

async function main([folder, port]) {
	try {
		await serve(folder, {port: Number(port)});
		console.log(`http://127.0.0.1:${port}/`);
	} catch (error) {
		console.error(`serve: port ${port} cannot be used: ${error.message}; ` +
			'web/serve.sh 8001 takes another');
		process.exit(1);
	}
}

if (import.meta.url === pathToFileURL(process.argv[1]).href)
	await main(process.argv.slice(2));
