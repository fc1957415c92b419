// Which repair tasks a reader has done, and how many hints that took; kept by the
// browser, and as a file that another browser can take.
const PREFIX = 'repair:', KIND = 'rdma-by-example repairs', VERSION = 1;
const LONGEST = 100_000, HINTS = 3;
const NAME = /^\d\d_[a-z0-9_]+\/[a-z0-9_]+$/;
const AGAIN = 'Choose the file that “Export” has made.';

const isTick = tick => tick !== null && typeof tick === 'object' && typeof tick.done === 'boolean' &&
	Number.isInteger(tick.hints) && tick.hints >= 0 && tick.hints <= HINTS;

// task: CHAPTER/NAME. {done, hints}
export function tickOf(task, storage = localStorage) {
	try {
		const tick = JSON.parse(storage.getItem(PREFIX + task));
		return isTick(tick) ? {done: tick.done, hints: tick.hints} : {done: false, hints: 0};
	} catch {
		return {done: false, hints: 0};
	}
}

// What was done remains done, and a hint that was given remains given.
function add(task, {done = false, hints = 0}, storage) {
	const known = tickOf(task, storage);
	storage.setItem(PREFIX + task, JSON.stringify(
		{done: known.done || done, hints: Math.max(known.hints, hints)}));
}

export const tick = (task, storage = localStorage) => add(task, {done: true}, storage);
export const hinted = (task, hints, storage = localStorage) => add(task, {hints}, storage);

function ticks(storage) {
	const names = Array.from({length: storage.length}, (_, i) => storage.key(i))
		.filter(x => x.startsWith(PREFIX)).map(x => x.slice(PREFIX.length)).sort();
	return Object.fromEntries(names.map(name => [name, tickOf(name, storage)]));
}

// How many of these tasks are done.
export const count = (tasks, storage = localStorage) => tasks.filter(x => tickOf(x, storage).done).length;

export const exported = (storage = localStorage) =>
	`${JSON.stringify({kind: KIND, version: VERSION, tasks: ticks(storage)}, null, '\t')}\n`;

// What a file has, or an error that says why it is none of ours.
function parsed(text) {
	if (text.length > LONGEST)
		throw new Error(`This file has ${text.length} characters, and one of repairs has ${LONGEST} at most. ${AGAIN}`);
	let file;
	try {
		file = JSON.parse(text);
	} catch {
		throw new Error(`This file is not JSON. ${AGAIN}`);
	}
	if (file?.kind !== KIND)
		throw new Error(`This file is JSON, but does not say "kind": "${KIND}". ${AGAIN}`);
	if (file.version !== VERSION)
		throw new Error(`This file has the version ${JSON.stringify(file.version)}, and this page reads version ${
			VERSION}. Open a page of the same age as the one that made it.`);
	if (file.tasks === null || typeof file.tasks !== 'object' || Array.isArray(file.tasks))
		throw new Error(`This file has no list of tasks. ${AGAIN}`);
	return Object.entries(file.tasks);
}

// Adds what a file has; nothing, if anything of it is wrong. tasks: all that there are.
// {known, unknown}: how many of the file are among these.
export function imported(text, tasks, storage = localStorage) {
	const found = parsed(text);
	for (const [name, value] of found)
		if (!NAME.test(name) || !isTick(value))
			throw new Error(`In this file, the entry ${JSON.stringify(name).slice(0, 80)} is not a task with “done” (true or ` +
				`false) and “hints” (0 to ${HINTS}). ${AGAIN}`);
	const known = found.filter(([name]) => tasks.includes(name));
	for (const [name, value] of known)
		add(name, value, storage);
	return {known: known.length, unknown: found.length - known.length};
}
