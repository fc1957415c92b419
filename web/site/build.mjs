// build.mjs - the book as static pages
//
// usage: node web/site/build.mjs OUT [PARTS]
//
// OUT gets every Markdown page of the repository as HTML, the source files that
// they link to, and the page's own modules. PARTS, if given, is what the lab needs:
// the picture of the memory and the programs, as web/build.sh has made them.
import {cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {dirname, join, posix, resolve as absolute} from 'node:path';
import {fileURLToPath} from 'node:url';
import {chaptersOf, placeOf, readTree, relative} from './tree.mjs';
import {makeRenderer, render} from './markdown.mjs';
import {escape, layout} from './layout.mjs';
import {sourcePage} from './source.mjs';
import {titlesOfRuns, writeLabData} from './lab_data.mjs';
import {copyLibraries} from './libraries.mjs';
import {capturePage} from './capture_page.mjs';
import {insidePage} from './inside.mjs';
import {searchIndex} from './search_index.mjs';
import {writeServiceWorker} from './offline.mjs';

const top = absolute(fileURLToPath(import.meta.url), '../../..');
const NAME = 'RDMA by example';

// How large a picture is: [['width', n], ['height', n]], as a PNG's first block or an
// SVG's viewBox says.
function sizeOf(path) {
	const data = existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
	const [, width, height] = path.endsWith('.png') && data.length > 24 ? [0, data.readUInt32BE(16), data.readUInt32BE(20)] :
		/viewBox="[\d.-]+ [\d.-]+ ([\d.]+) ([\d.]+)"/.exec(data.toString('utf8', 0, 4000)) ?? [];
	return width ? [['width', String(Math.round(width))], ['height', String(Math.round(height))]] : [];
}

class Site {
	constructor(out, parts) {
		Object.assign(this, {out, parts, name: NAME, wanted: new Set(), missing: []});
		this.tree = readTree(top);
		this.known = new Set([...this.tree.pages, ...this.tree.sources, ...this.tree.copies]);
		this.chapters = chaptersOf(this.tree);
		this.pages = new Map();
	}

	write(place, data) {
		const path = join(this.out, place);
		mkdirSync(dirname(path), {recursive: true});
		writeFileSync(path, data);
	}

	// The link from a page to a file of the repository; notes what is linked to.
	link(from, target, hash, image) {
		const end = hash ? `#${hash}` : '';
		const path = target.replace(/\/$/, '');
		if (this.tree.copies.includes(path))
			return relative(from, path) + end;
		if (this.known.has(path)) {
			this.wanted.add(path);
			return relative(from, placeOf(path)) + end;
		}
		if (!image && this.known.has(posix.join(path, 'README.md')))
			return relative(from, posix.join(path, 'index.html')) + end;
		if (!image && [...this.known].some(x => x.startsWith(`${path}/`) || path === '.')) {
			this.wanted.add(`${path}/`);
			return relative(from, posix.join(path, 'index.html'));
		}
		this.missing.push(`${from}: ${target}`);
		return target;
	}

	readPages() {
		const md = makeRenderer();
		for (const path of this.tree.pages) {
			const place = placeOf(path);
			const [, chapter] = /^(\d\d_[^/]+)\/README\.md$/.exec(path) ?? [];
			const page = render(md, readFileSync(join(top, path), 'utf8'), {
				path, runs: chapter && titlesOfRuns(top, chapter),
				sizeOf: target => sizeOf(join(top, target)),
				resolve: (target, hash, image) => this.link(place, target, hash, image)});
			this.pages.set(path, {...page, path, place, chapter,
				...path === 'README.md' && {door: this.chapters[0]}});
		}
	}

	// What the menu shows: the chapters, then docs as the front page names them.
	arrange() {
		const front = readFileSync(join(top, 'README.md'), 'utf8');
		const named = [...front.matchAll(/\]\((docs\/[^)#]+\.md|CONTRIBUTING\.md)/g)].map(x => x[1]);
		const rest = this.tree.pages.filter(x => x.startsWith('docs/')).sort();
		const page = path => this.pages.get(path);
		this.menu = [
			{title: 'Start', pages: [page('README.md')]},
			{title: 'Chapters', pages: this.chapters.map(x => page(`${x}/README.md`))},
			{title: 'More', pages: [...new Set([...named, ...rest])].map(page).filter(Boolean)},
		];
		this.order = this.menu.flatMap(x => x.pages);
	}

	folderPage(folder) {
		const inside = [...this.known].filter(x => dirname(x) === folder);
		const folders = [...new Set([...this.known].filter(x => x.startsWith(`${folder}/`) &&
			dirname(x) !== folder).map(x => x.slice(folder.length + 1).split('/')[0]))];
		const place = `${folder}/index.html`;
		for (const x of folders)
			if (!this.known.has(`${folder}/${x}/README.md`))
				this.wanted.add(`${folder}/${x}/`);
		inside.forEach(x => this.wanted.add(x));
		const items = [...folders.map(x => [`${x}/`, `${x}/index.html`]),
			...inside.map(x => [posix.basename(x), this.link(place, x)])];
		return {place, title: folder, html: `<h1>${escape(folder)}</h1><ul>${
			items.map(([name, href]) => `<li><a href="${href}">${escape(name)}</a></li>`).join('')
		}</ul>`};
	}

	writePages() {
		for (const page of this.pages.values())
			this.write(page.place, layout(page, this));
		// A folder's page may link to more files and folders.
		const done = new Set();
		for (let found = true; found;) {
			found = false;
			for (const path of [...this.wanted].filter(x => !done.has(x) && !this.pages.has(x))) {
				done.add(path);
				found = true;
				const page = path.endsWith('/') ? this.folderPage(path.slice(0, -1)) :
					{place: placeOf(path), title: path,
						html: sourcePage(path, readFileSync(join(top, path), 'utf8'))};
				this.write(page.place, layout(page, this));
			}
		}
		for (const path of this.tree.copies)
			if (!path.startsWith('web/'))
				this.write(path, readFileSync(join(top, path)));
	}
}

async function main([out, parts]) {
	if (!out || process.argv.includes('-h')) {
		console.error('usage: node web/site/build.mjs OUT [PARTS]');
		process.exit(2);
	}
	const site = new Site(absolute(out), parts && absolute(parts));
	rmSync(site.out, {recursive: true, force: true});
	site.readPages();
	for (const chapter of site.chapters)
		for (const path of site.tree.sources)
			if (path.startsWith(`${chapter}/`) && /\.[ch]$|Makefile$/.test(path))
				site.wanted.add(path);
	site.arrange();
	site.writePages();
	if (site.missing.length) {
		console.error(`web: links to what is not there:\n  ${site.missing.join('\n  ')}`);
		process.exit(1);
	}
	const inside = insidePage(top, site);
	site.write('web/inside.html', layout({place: 'web/inside.html', ...inside}, site));
	site.write('web/capture.html', layout(capturePage(), site));
	site.write('web/search.json', searchIndex([...site.pages.values()]));
	cpSync(join(top, 'web/page'), join(site.out, 'web/page'), {recursive: true});
	await copyLibraries(top, site.out);
	writeLabData(top, site);
	writeServiceWorker(site.out);
	console.log(`web: ${site.pages.size} pages, ${site.wanted.size} files in ${out}` +
		(existsSync(join(site.out, 'web/lab/state.zst')) ? '' : '; without the lab'));
}

await main(process.argv.slice(2));
