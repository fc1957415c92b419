// What the page has of a chapter's repair tasks: what repairs.py says of them, and
// which of them its check cannot do here.
import {execFileSync} from 'node:child_process';
import {join, posix} from 'node:path';
import {expectedLogs, readCommands} from './logs.mjs';
import {placeOf} from './tree.mjs';

// What a judge.sh says of itself.
const MARK = /^# not in the page: (.+)$/m;

// Markdown in a line, as what an element is made of: texts, {code}, {text, href}.
export function inline(text, from) {
	const parts = text.split(/(`[^`]+`|\[[^\]]+\]\([^)]+\))/).filter(Boolean);
	return parts.map(part => {
		const [, words, target] = /^\[([^\]]+)\]\(([^)]+)\)$/.exec(part) ?? [];
		if (words)
			return {text: words.replaceAll('`', ''), href: linkOf(target, from)};
		return /^`[^`]+`$/.test(part) ? {code: part.slice(1, -1)} : part;
	});
}

// The page that a link of a file in the folder `from` leads to, from the top.
function linkOf(target, from) {
	if (/^[a-z]+:/i.test(target))
		return target;
	const [file, hash] = target.split('#');
	return placeOf(posix.normalize(posix.join(from, file))) + (hash ? `#${hash}` : '');
}

// Why the check cannot run on a node in the page; '' if it can.
export const notHere = (judge, lacking) => MARK.exec(judge)?.[1] ??
	(lacking(judge) && `it needs ${lacking(judge)}`);

// In the order in which a reader is told of them: what an end said, then what it
// complained of.
function saidIn(folder) {
	const {files} = expectedLogs(folder);
	return Object.fromEntries(['.log', '.err'].flatMap(kind => Object.keys(files).sort().filter(x => x.endsWith(kind)))
		.map(name => [name, files[name]]));
}

export function repairsOf(top, chapter, lacking) {
	const tasks = JSON.parse(execFileSync('/usr/bin/python3', ['-B', join(top, 'web/site/repairs.py'), join(top, chapter)],
		{encoding: 'utf8', maxBuffer: 1 << 26}));
	return tasks.map(({name, title, symptom, hints, files, commands, said, judge}) => ({
		name, title, symptom, files, run: readCommands(commands), said: saidIn(said),
		hints: hints.map(x => inline(x, `${chapter}/repair/${name}`)),
		lacks: notHere(judge, lacking)}));
}
