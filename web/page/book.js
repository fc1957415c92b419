// What every page does with JavaScript: search, the theme, the lab's button.
import {keepOffline} from './offline.js';

const top = new URL(document.querySelector('script[data-top]').dataset.top, location.href);

function theme() {
	const button = document.querySelector('button.theme');
	button.hidden = false;
	button.addEventListener('click', () => {
		const root = document.documentElement;
		const dark = root.dataset.theme ? root.dataset.theme === 'dark' :
			matchMedia('(prefers-color-scheme: dark)').matches;
		root.dataset.theme = dark ? 'light' : 'dark';
		localStorage.setItem('theme', root.dataset.theme);
	});
}

async function openIndex() {
	const [{default: MiniSearch}, {SEARCH_OPTIONS}, json] = await Promise.all([
		import(new URL('web/libraries/minisearch.js', top)),
		import('./search_options.js'),
		fetch(new URL('web/search.json', top)).then(x => x.text())]);
	return MiniSearch.loadJSON(json, SEARCH_OPTIONS);
}

function show(found, results, words) {
	found.replaceChildren(...results.slice(0, 12).map(result => {
		const link = document.createElement('a');
		link.href = new URL(result.href, top);
		link.textContent = result.title === result.page ? result.page :
			`${result.page}: ${result.title}`;
		return link;
	}));
	if (words && !results.length)
		found.textContent = 'Nothing found.';
}

function search() {
	const form = document.querySelector('form.search');
	const input = form.querySelector('input'), found = form.querySelector('.found');
	let index = null;
	form.hidden = false;
	const ask = async () => {
		index ??= openIndex();
		const words = input.value.trim(), ready = await index;
		if (words === input.value.trim())
			show(found, words ? ready.search(words) : [], words);
	};
	input.addEventListener('input', ask);
	form.addEventListener('submit', event => {
		event.preventDefault();
		found.querySelector('a')?.click();
	});
	document.addEventListener('keydown', event => {
		if (event.key === '/' && !event.target.closest('input, textarea, .lab, [contenteditable]')) {
			event.preventDefault();
			input.focus();
		} else if (event.key === 'Escape' && form.contains(event.target)) {
			input.value = '';
			found.replaceChildren();
		}
	});
}

let lab = null;

// A link such as ?lab&case=no_recv&loss=0.05 opens the lab at once.
function openLab(wish = new URLSearchParams(location.search)) {
	document.querySelector('.lab-open').hidden = true;
	document.querySelector('.lab-open').classList.remove('later');
	lab ??= import('./lab_page.js').then(({openLab: open}) =>
		open(document.body.dataset.chapter, top, wish));
	return lab;
}

// Where the text says how to run something, the page runs it; how a shell does that is
// folded below.
function runHere() {
	for (const here of document.querySelectorAll('button.here')) {
		const {run, case: name, repair} = here.dataset;
		here.hidden = false;
		here.addEventListener('click', async () => {
			const page = await openLab(new URLSearchParams());
			page.here(run ? 'runs' : name ? 'cases' : 'repairs', run ?? name ?? repair);
		});
	}
	for (const shell of document.querySelectorAll('details.shell')) {
		shell.open = false;
		shell.classList.remove('early');
	}
}

theme();
search();
if (document.body.dataset.chapter) {
	const bar = document.querySelector('.lab-open');
	bar.hidden = false;
	bar.querySelector('button').addEventListener('click', () => openLab());
	runHere();
	if (new URLSearchParams(location.search).has('lab'))
		openLab();
}
if (document.body.dataset.door)
	import('./door.js').then(({openDoor}) => openDoor(document.body.dataset.door, top));
if (document.querySelector('.drop'))
	import('./capture_page.js').then(({openCaptures}) => openCaptures(top));
async function ask() {
	const {askFiles, openAsk} = await import('./ask.js');
	openAsk(top);
	return askFiles(top);
}

// A browser that keeps nothing shows the pages all the same.
const wanted = document.querySelector('.ask') ? ask() : [];
Promise.resolve(wanted).then(more => keepOffline(top, more)).catch(() => {});
