// "What does this error mean?": a box for a line, or a log; below it the entries that
// scripts/explain.py names, with the reason for each. Nothing leaves the page.
import {element} from './dom.js';
import {CERTAIN, SURE, explain} from './explain.js';

const DATA = 'web/lab/explained.json';
const WORDS = {[CERTAIN]: 'certain', [SURE]: 'sure', 1: 'likely'};
const ALL = 'docs/troubleshooting.html';

// What the service worker keeps for it, for a time without a network.
export const askFiles = top => [new URL(DATA, top).href];

function entryOf({entry, why}, sure, top) {
	return element('li', {}, element('a', {href: new URL(`${entry.page}#${entry.anchor}`, top).href}, entry.title),
		element('small', {}, ` (${sure ? `${WORDS[sure]}: ` : ''}${why})`),
		entry.cause && element('p', {}, entry.cause));
}

// The elements that say what was found.
function said({line, number, sure, found}, top) {
	const all = element('a', {href: new URL(ALL, top).href}, 'all entries');
	if (!found.length)
		return [element('p', {}, 'No rule fits this: nothing in it names an object of RDMA, a call or a state. ' +
			'Look for a line before it that does, at both ends; or among ', all, '.')];
	return [line === undefined ?
		element('p', {}, 'No rule fits this; by their words alone, the nearest are:') :
		number ? element('p', {}, `Line ${number}: `, element('code', {}, line.trim().slice(0, 200))) : null,
	element('ol', {}, found.map((x, i) => entryOf(x, i ? 0 : sure, top)))].filter(Boolean);
}

export function openAsk(top) {
	const section = document.querySelector('.ask');
	const box = section.querySelector('textarea'), answer = section.querySelector('.answer');
	let data = null;
	const load = () => {
		data ??= fetch(new URL(DATA, top)).then(x => x.json());
		data.catch(() => { data = null; });
		return data;
	};
	// The first moment at which it will be needed.
	box.addEventListener('focus', () => load().catch(() => {}));
	box.addEventListener('input', async () => {
		const text = box.value;
		const shown = text.trim() ? await load().then(ready => said(explain(text, ready), top),
			error => [element('p', {}, `The table did not come: ${error.message}`)]) : [];
		// Who types on gets the answer to what is there now.
		if (text === box.value)
			answer.replaceChildren(...shown);
	});
	section.hidden = false;
}
