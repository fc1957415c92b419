// What the lab in the page knows of each chapter: files, logged runs, cases,
// exercises; one JSON a chapter, loaded when its lab opens.
import {copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync} from 'node:fs';
import {execFileSync} from 'node:child_process';
import {basename, join} from 'node:path';
import {expectedLogs, readCommands} from './logs.mjs';
import {repairsOf} from './repair_data.mjs';

const read = path => existsSync(path) ? readFileSync(path, 'utf8') : null;

// A program of another chapter, which is not on these nodes.
const ANOTHER = /\.\.\/0\d_/;
const NOT_THERE = [
	[ANOTHER, 'the program of another chapter'],
	[/nodes: 2/, 'two nodes that one script commands'],
	[/python3/, 'Python'],
	[/\btcpdump\b/, 'tcpdump'],
];

function folders(path) {
	return existsSync(path) ? readdirSync(path, {withFileTypes: true})
		.filter(x => x.isDirectory() && existsSync(join(path, x.name, 'commands')))
		.map(x => x.name).sort() : [];
}

function runsOf(folder) {
	const here = folders(folder).filter(name => !ANOTHER.test(read(join(folder, name, 'commands'))));

	return Object.fromEntries(here.map(name => [name, {
		...readCommands(join(folder, name, 'commands')),
		expected: expectedLogs(join(folder, name))}]));
}

// What a case asks, before it is run: the quotation in its README, as plain text.
function questionOf(folder) {
	const [quote = ''] = /^> .*(?:\n>.*)*/m.exec(read(join(folder, 'README.md')) ?? '') ?? [];
	return quote.replace(/^> ?/gm, '').replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/[`*]/g, '').replace(/\s+/g, ' ').trim();
}

// Where the story of a case is told: beside its patch, or in the chapter's README.
function casesOf(chapter, folder) {
	const cases = runsOf(folder);
	for (const [name, entry] of Object.entries(cases)) {
		entry.patch = read(join(folder, name, 'patch')) ??
			read(join(folder, name, `${name}.patch`)) ?? read(join(folder, `${name}.patch`));
		entry.story = existsSync(join(folder, name, 'README.md')) ?
			`${chapter}/break/${name}/index.html` : `${chapter}/index.html#${name}`;
		entry.question = questionOf(join(folder, name));
		// Its file commands may say it, or what a script of it calls.
		entry.lacks = /^# needs (.*)/m.exec(read(join(folder, name, 'commands')))?.[1] ??
			readdirSync(join(folder, name)).filter(x => x.endsWith('.sh'))
			.map(x => lacking(read(join(folder, name, x)))).find(Boolean) ?? '';
	}
	return cases;
}

function exercisesOf(chapter, folder) {
	return existsSync(folder) ? readdirSync(folder).sort()
		.filter(x => x.endsWith('.md') && x !== 'README.md' && !x.endsWith('.solution.md'))
		.map(x => ({name: basename(x, '.md'),
			title: /^# *(.*)/m.exec(read(join(folder, x)))?.[1] ?? x,
			task: `${chapter}/exercises/${x.replace(/\.md$/, '.html')}`,
			lacks: lacking(read(join(folder, x.replace(/\.md$/, '.sh'))))})) : [];
}

// What the check of an exercise, or a case, needs and a node in the page has not.
function lacking(text) {
	return NOT_THERE.find(([pattern]) => pattern.test(text))?.[1] ?? '';
}

export function chapterData(top, tree, chapter) {
	const folder = join(top, chapter);
	const files = tree.sources.filter(x => x.startsWith(`${chapter}/`) &&
		/^[^/]+\/(carried\/|plumbing\/|load\/|bench\/)?[^/]+(\.[ch]|\.sh|Makefile)$/.test(x));
	return {chapter,
		files: Object.fromEntries(files.map(x => [x.slice(chapter.length + 1),
			readFileSync(join(top, x), 'utf8')])),
		runs: runsOf(join(folder, 'expected')),
		cases: casesOf(chapter, join(folder, 'break')),
		exercises: exercisesOf(chapter, join(folder, 'exercises')),
		repairs: repairsOf(top, chapter, lacking)};
}

// What each logged run of a chapter does: {name: title}.
export const titlesOfRuns = (top, chapter) => Object.fromEntries(
	Object.entries(runsOf(join(top, chapter, 'expected'))).map(([name, {title}]) => [name, title || name]));

export function writeLabData(top, site) {
	const rules = execFileSync('/usr/bin/python3', ['-B', join(top, 'web/site/rules.py')]);
	site.write('web/lab/rules.json', rules);
	site.write('web/lab/explained.json', execFileSync('/usr/bin/python3', ['-B', join(top, 'web/site/explained.py')]));
	for (const patch of ['scripts/lib/wiretap/show_memory.patch', 'web/site/idle.patch'])
		site.write(`web/lab/${basename(patch)}`, readFileSync(join(top, patch)));
	const chapters = site.chapters.map(chapter => chapterData(top, site.tree, chapter));
	for (const data of chapters)
		site.write(`web/lab/${data.chapter}.json`, JSON.stringify(data));
	// The names of all tasks, for who counts what is done.
	site.write('web/lab/repairs.json', JSON.stringify(Object.fromEntries(chapters.map(({chapter, repairs}) =>
		[chapter, repairs.map(x => x.name)]))));
	if (!site.parts)
		return;
	mkdirSync(join(site.out, 'web/lab'), {recursive: true});
	for (const name of ['state.zst', 'state.json', 'checker.tar.gz', ...site.chapters.map(x => `${x}.tar.gz`)])
		copyFileSync(join(site.parts, name), join(site.out, 'web/lab', name));
}
