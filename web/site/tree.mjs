// The repository's files that become pages, taken from the tree as it is.
import {readdirSync} from 'node:fs';
import {basename, dirname, extname, join, posix} from 'node:path';

const SKIP = new Set(['build', 'node_modules', '.git', 'certs']);
const SOURCE = new Set(['.c', '.h', '.sh', '.py', '.patch', '.txt', '.log', '.err',
	'.bats', '.bash', '.tsv', '.mjs', '.js', '.html', '.config', '.yml']);
const NAMES = new Set(['Makefile', 'LICENSE', 'commands', 'races', 'run', 'config', 'init',
	'packages', 'cc', 'build', '.clang-format', 'Containerfile', 'devcontainer.json']);
const COPY = new Set(['.svg', '.pcapng', '.png']);

function* walk(top, folder) {
	for (const entry of readdirSync(join(top, folder), {withFileTypes: true})) {
		const path = posix.join(folder, entry.name);
		if (entry.isDirectory() && !SKIP.has(entry.name))
			yield* walk(top, path);
		else if (entry.isFile())
			yield path;
	}
}

// {pages, sources, copies}: paths from the top of the repository.
export function readTree(top) {
	const tree = {pages: [], sources: [], copies: []};
	for (const path of [...walk(top, '')].sort()) {
		const kind = extname(path);
		// The hints of a repair task are asked for one by one (make repair HINT=1).
		if (basename(path) === 'hints.md')
			continue;
		if (kind === '.md')
			tree.pages.push(path);
		else if (COPY.has(kind))
			tree.copies.push(path);
		else if (SOURCE.has(kind) || NAMES.has(basename(path)))
			tree.sources.push(path);
	}
	return tree;
}

// Where a file of the repository is in the site.
export function placeOf(path) {
	if (basename(path) === 'README.md')
		return posix.join(dirname(path), 'index.html');
	if (path.endsWith('.md'))
		return path.replace(/\.md$/, '.html');
	return `${path}.html`;
}

export const chaptersOf = tree => [...new Set(tree.pages.map(path => path.split('/')[0])
	.filter(name => /^\d\d_/.test(name)))].sort();

// A relative link from one place of the site to another.
export function relative(from, to) {
	return posix.relative(dirname(from), to) || posix.basename(to);
}
