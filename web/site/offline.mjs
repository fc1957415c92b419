// The service worker, with the list of what it keeps: changed files have another
// hash, and only those are fetched again.
import {createHash} from 'node:crypto';
import {readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join, relative} from 'node:path';

const digest = path => createHash('sha256').update(readFileSync(path)).digest('hex');

export function writeServiceWorker(out) {
	const files = readdirSync(out, {recursive: true, withFileTypes: true})
		.filter(x => x.isFile()).map(x => join(x.parentPath ?? x.path, x.name));
	const list = Object.fromEntries(files.map(path => [relative(out, path), digest(path)]));
	const template = readFileSync(join(out, 'web/page/service_worker.js'), 'utf8');
	writeFileSync(join(out, 'service_worker.js'),
		template.replace('/* FILES */ {}', JSON.stringify(list)));
}
