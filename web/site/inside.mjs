// The page that says what these pages are made of: each part, its version, its
// licence, and where its source is.
import {copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {escape} from './layout.mjs';

const row = cells => `<tr>${cells.map(x => `<td>${x}</td>`).join('')}</tr>`;
const table = (heads, rows) => `<div class="scroll"><table><thead><tr>${
	heads.map(x => `<th>${x}</th>`).join('')}</tr></thead><tbody>${rows.join('')}</tbody></table></div>`;
const HEADS = ['package', 'version', 'licence', 'source'];

// A licence's text goes into the site: most ask for that of who passes a copy on.
function licence(site, from, name, word) {
	const place = `licences/${name.replace(/[@/]/g, '_')}.txt`;
	if (!from || !existsSync(from))
		return escape(word);
	mkdirSync(dirname(join(site.out, 'web', place)), {recursive: true});
	copyFileSync(from, join(site.out, 'web', place));
	return `<a href="${place}">${escape(word)}</a>`;
}

// What npm has put there: what the page loads, and what builds and tests it.
function libraries(top, site) {
	const lock = JSON.parse(readFileSync(join(top, 'web/package-lock.json'), 'utf8'));
	return Object.entries(lock.packages).filter(([path, x]) => path && x.version).map(([path, x]) => {
		const folder = join(top, 'web', path), name = path.replace(/^.*node_modules\//, '');
		const file = existsSync(folder) &&
			readdirSync(folder).find(file => /^(licen[cs]e|copying)/i.test(file));
		return row([escape(name), escape(x.version),
			licence(site, file && join(folder, file), name, x.license ?? 'its licence'),
			`<a href="https://www.npmjs.com/package/${name}/v/${x.version}">the npm registry</a>`]);
	});
}

// versions: a line a package, "name version source", and the source's version if it
// is another one.
function packages(site) {
	const path = site.parts && join(site.parts, 'versions');
	if (!path || !existsSync(path))
		return [];
	return readFileSync(path, 'utf8').trim().split('\n').map(line => {
		const [name, version, source, from = version] = line.split(' ');
		return row([escape(name), escape(version),
			licence(site, join(site.parts, 'copyright', name), name, 'its licence'),
			`<a href="https://snapshot.debian.org/package/${source}/${encodeURIComponent(from)}/">` +
				`Debian, source package ${escape(source)} ${escape(from)}</a>`]);
	});
}

export function insidePage(top, site) {
	const guest = packages(site);
	return {title: 'What is inside these pages', sections: [], html: `
<h1>What is inside these pages</h1>
<p>The text and the code are this repository’s own, under the MIT licence. What else
is here comes from others, unchanged but for one line of Linux, and each part stays
under its own licence.</p>
<h2 id="node">The nodes</h2>
<p>Each node is an emulated PC. The picture of its memory, from which it starts, holds
Linux 6.1 and programs of Debian 12 for i386. Linux is under the GPL, version 2; its
source is Debian’s package <code>linux-source-6.1</code>, and the configuration is
<code>scripts/lib/kernel/page.config</code>. The line that was changed is in
<code>scripts/lib/kernel/sock_aligned.patch</code>. The picture was taken with the BIOS of
SeaBIOS (LGPL, version 3). The links lead to the very source from which Debian has built a package.</p>
${guest.length ? table(HEADS, guest) : '<p>These pages were built without the lab.</p>'}
<h2 id="page">The page, and what builds and tests it</h2>
${table(HEADS, libraries(top, site))}
`};
}
