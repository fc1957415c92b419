// Exercises: what is asked, and what the checker says of the reader's files.
import {button, element} from './dom.js';
import {edits} from './store.js';

const KINDS = [[/^ {2}ok /, 'good'], [/^ {2}missing /, 'error'], [/^all \d+ things/, 'good']];

// The checker's lines, each in its colour.
export function verdict(out) {
	return out.trimEnd().split('\n').map(line => element('span', {
		className: KINDS.find(([pattern]) => pattern.test(line))?.[1] ?? ''}, `${line}\n`));
}

export function exercisesPanel(page) {
	const {lab} = page, {exercises} = lab.data;
	const result = element('pre', {tabIndex: 0, role: 'status'});
	const task = element('p');
	const choice = element('select', {'ariaLabel': 'Which exercise', onchange: () => describe()},
		exercises.map(({name, title}) => element('option', {value: name}, title)));
	const check = button('Check', () => run(), {disabled: true});
	let up = false;
	const describe = () => {
		const {task: path, lacks} = exercises.find(x => x.name === choice.value);
		result.replaceChildren();
		check.disabled = !up || Boolean(lacks);
		task.replaceChildren(element('a', {href: new URL(path, page.top).href}, 'What it asks for'),
			lacks ? `. Its check needs ${lacks}, which is not in this page; in the lab, ` +
				'make exercise does it.' :
				'. Write it in Files or in the terminal; the check runs on node a.');
	};
	const run = async () => {
		check.disabled = true;
		result.textContent = 'Node a builds your files and runs them, alone and against the chapter …';
		try {
			for (const [file, text] of Object.entries(edits(lab.chapter)))
				await lab.write(file, text);
			const {out} = await lab.exercise(choice.value);
			result.replaceChildren(...verdict(out));
		} catch (error) {
			result.textContent = error.message;
		}
		check.disabled = false;
	};
	page.root.addEventListener('ready', () => {
		up = true;
		describe();
	});
	describe();
	return element('div', {}, choice, check, task, result);
}
