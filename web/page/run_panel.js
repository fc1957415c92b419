// Runs of the chapter, as they were recorded or broken on purpose, and how what
// they said compares with the record.
import {button, element} from './dom.js';
import {guessForm} from './guess_form.js';
import {nodeOf} from './runs.js';

function difference({name, lines}) {
	return element('details', {open: lines.some(([sign]) => sign !== ' ')},
		element('summary', {}, name),
		element('pre', {}, lines.map(([sign, text]) => element('span', {
			className: {'+': 'more', '-': 'less', ' ': ''}[sign]}, `${sign} ${text}\n`))));
}

export function outcome(result) {
	if (result.matches)
		return [element('p', {className: 'good'}, 'Matches the recorded run.')];
	return [element('p', {className: 'error'}, result.trouble ??
		'Differs from the recorded run: - is only in the record, + only in this run.'),
	...result.differences.map(difference)];
}

const MODES = {
	runs: {word: 'Run', busy: 'It runs on both nodes …', does: (lab, name) => lab.run(name)},
	cases: {word: 'Break it', busy: 'A copy is changed, built on both nodes, and run …',
		does: (lab, name) => lab.break(name)},
};

export function runPanel(page, kind) {
	const {lab} = page, mode = MODES[kind], choices = lab.data[kind];
	const result = element('div', {role: 'status'});
	const commands = element('pre', {tabIndex: 0});
	const story = element('div'), guesses = kind === 'cases' ? guessForm(lab) : null;
	let up = false;
	const choice = element('select', {'ariaLabel': `${mode.word}: which one`,
		onchange: () => describe()}, Object.entries(choices).map(([name, {title}]) =>
		element('option', {value: name}, title || name)));
	const describe = () => {
		const chosen = choices[choice.value];
		result.replaceChildren(chosen?.lacks ? `This needs ${chosen.lacks}, which is not in this ` +
			'page; in the lab, make break does it.' : '');
		go.disabled = !up || !chosen || Boolean(chosen.lacks);
		if (!chosen)
			return;
		commands.textContent = chosen.programs.map(x =>
			`node ${nodeOf(chosen, x.label)}$ ${x.command}`).join('\n');
		guesses?.show(choice.value);
		story.replaceChildren(...kind === 'cases' ? [
			element('p', {}, chosen.question || 'What will both ends say? Guess, then run it.'),
			element('details', {}, element('summary', {}, 'What is changed'),
				element('pre', {}, chosen.patch ?? 'Nothing: it only runs differently.')),
			element('a', {href: new URL(chosen.story, page.top).href}, 'Its story')] : []);
	};
	const run = async () => {
		go.disabled = true;
		result.textContent = mode.busy;
		try {
			result.replaceChildren(...outcome(await mode.does(lab, choice.value)));
			guesses?.ran();
		} catch (error) {
			result.replaceChildren(element('p', {className: 'error'}, error.message));
		}
		go.disabled = false;
	};
	const go = button(mode.word, run, {disabled: true});
	page.root.addEventListener('ready', () => {
		up = true;
		describe();
	});
	if (page.wish.get(kind === 'runs' ? 'run' : 'case'))
		choice.value = page.wish.get(kind === 'runs' ? 'run' : 'case');
	describe();
	// choose(name): as if the reader had chosen it; run(): as if they had pressed.
	return {panel: element('div', {}, choice, go, commands, story, guesses?.form, result), run: () => go.click(),
		choose: name => {
			choice.value = name;
			describe();
		}};
}
