// A terminal for a node.
import {element} from './dom.js';
import {Explainer} from './explain.js';

export async function loadTerminal(top) {
	const [{Terminal}, {FitAddon}] = await Promise.all([
		import(new URL('web/libraries/xterm.mjs', top)),
		import(new URL('web/libraries/addon-fit.mjs', top))]);
	return {Terminal, FitAddon};
}

function text(terminal) {
	const {active} = terminal.buffer, lines = [];
	for (let i = 0; i < active.length; i++)
		lines.push(active.getLine(i).translateToString(true));
	return lines.join('\n').trimEnd();
}

// What this book says of the first error that the terminal shows, beside it: found(entry).
function explanation(top) {
	const box = element('div', {className: 'explained', role: 'status'});
	let shown = null;
	return {box, show: entry => {
		if (entry === shown)
			return;
		shown = entry;
		box.replaceChildren(...entry ? [element('a', {href: new URL(`${entry.page}#${entry.anchor}`, top).href,
			target: '_blank', rel: 'noopener', title: 'How to be sure, and what to do; opens another tab'}, entry.title),
		` ${entry.cause}`] : []);
	}};
}

export const loadExplained = lab => lab.get('explained.json');

export function makeTerminal(node, lab, explained, {Terminal, FitAddon}) {
	const explainer = new Explainer(explained), {box: beside, show} = explanation(lab.top);
	const forget = () => {
		explainer.forget();
		show(null);
	};
	lab.addEventListener('clear', forget);
	const terminal = new Terminal({fontSize: 12, convertEol: true, scrollback: 5000,
		screenReaderMode: true, theme: {background: '#0d1117', foreground: '#e6edf3'}});
	const fit = new FitAddon();
	const inside = element('div', {className: 'screen'});
	const box = element('div', {className: 'terminal-box'},
		element('h3', {}, `Node ${node.name} `, element('small', {}, 'Shift+Tab leaves it')), inside, beside);
	terminal.loadAddon(fit);
	// Tab is the shell's; who has no mouse gets out all the same.
	terminal.attachCustomKeyEventHandler(event => !(event.key === 'Tab' && event.shiftKey));
	node.screen = () => text(terminal);
	node.addEventListener('terminal', ({detail}) => {
		terminal.write(detail);
		show(explainer.hear(detail));
	});
	terminal.onData(data => node.type(data));
	terminal.onData(data => data.includes('\r') && forget());
	terminal.onResize(({rows, cols}) => node.up && node.resize(rows, cols));
	// Once it is in the document, and whenever that changes.
	new ResizeObserver(() => inside.clientWidth && fit.fit()).observe(inside);
	queueMicrotask(() => terminal.open(inside));
	node.addEventListener('up', () => node.resize(terminal.rows, terminal.cols));
	return box;
}
