// A check on a node asks the page whether a run went as recorded, since the node has no
// Python: rootfs/compare_logs.sh there, and the comparison that the page has for runs.
import {compare} from './compare/compare.js';

const decoder = new TextDecoder();
const decoded = text => decoder.decode(Uint8Array.from(atob(text), x => x.charCodeAt(0)));

// What a folder of the repository's logs is called, as a check on a node names it.
const FOLDER = /\/(\d\d_[^/]+)\/(expected|break)\/([^/]+)\/?$/;

// data: the chapter's; what the logs in that folder are, or undefined.
export function expectedOf(data, folder) {
	const [, chapter, kind, name] = FOLDER.exec(folder) ?? [];
	return chapter === data.chapter ? data[kind === 'break' ? 'cases' : 'runs'][name]?.expected : undefined;
}

// The lines that compare_logs.sh would print, as far as a check reads them, and its
// exit status.
export function answer(rules, data, folder, logs) {
	const expected = expectedOf(data, folder);
	if (!expected)
		return ['there are no logs of it', 2];
	try {
		const {matches, trouble, differences} = compare(rules, logs, expected);
		if (matches)
			return ['matches', 0];
		if (trouble)
			return [trouble, 2];
		const different = differences.find(({lines}) => lines.some(([sign]) => sign !== ' '));
		const lines = (different?.lines ?? []).filter(([sign]) => sign !== ' ');
		return [[`--- ${different?.name}`, `+++ ${different?.name}`, ...lines.map(([sign, text]) => sign + text)]
			.slice(0, 6).join('\n'), 1];
	} catch (error) {
		return [error.message, 2];
	}
}

// Hears what a node asks, a line at a time, and answers on the same port.
export class Comparer {
	// about(): {rules, data}; reply(text).
	constructor(about, reply) {
		Object.assign(this, {about, reply, folder: '', logs: {}});
	}

	hear(text) {
		const [word, name, value = ''] = text.split(' ');
		if (word === 'folder')
			Object.assign(this, {folder: name, logs: {}});
		else if (word === 'log')
			this.logs[name] = decoded(value);
		else if (word === 'compare')
			this.say();
	}

	say() {
		const {rules, data} = this.about();
		const [text, status] = answer(rules, data, this.folder, this.logs);
		// A node reads these as lines; what a program said may have anything in it.
		const lines = text.split('\n').map(x => `= ${x.replace(/[^ -~]/g, '?').slice(0, 200)}\n`);
		this.reply(`${lines.join('')}status ${status}\n`);
	}
}
