// Exercises: what is asked, a copy of the chapter in an editor, and what the checker says
// of it.
import {button, element} from './dom.js';
import {Editor} from './editor.js';
import {check, handOut, keptAs} from './exercise.js';

const KINDS = [[/^ {2}ok /, 'good'], [/^ {2}missing /, 'error'], [/^all \d+ things/, 'good']];

// The checker's lines, each in its colour.
export function verdict(out) {
	return out.trimEnd().split('\n').map(line => element('span', {
		className: KINDS.find(([pattern]) => pattern.test(line))?.[1] ?? ''}, `${line}\n`));
}

class Exercises {
	constructor({lab, top, root}) {
		Object.assign(this, {lab, top, exercises: lab.data.exercises, up: false});
		this.editor = new Editor(top, 'Which file of your copy');
		this.result = element('div', {role: 'status'});
		this.task = element('p');
		this.choice = element('select', {ariaLabel: 'Which exercise', onchange: () => this.describe()},
			this.exercises.map(({name, title}) => element('option', {value: name}, title)));
		const act = (text, what) => button(text, () => this.act(what), {disabled: true});
		this.buttons = {build: act('Build', () => this.build()), check: act('Check', () => this.check()),
			again: act('Begin anew', () => this.again())};
		root.addEventListener('ready', () => {
			this.up = true;
			this.enable();
		});
		this.describe();
	}

	get exercise() {
		return this.exercises.find(x => x.name === this.choice.value);
	}

	describe() {
		const {name, task, lacks} = this.exercise, {chapter, data} = this.lab;
		this.result.replaceChildren();
		this.task.replaceChildren(element('a', {href: new URL(task, this.top).href}, 'What it asks for'),
			'. Change your copy here; Build puts it into ', element('code', {}, `~/work/${chapter.slice(0, 2)}_${name}`),
			' on both nodes, where you can run it. The chapter stays as it is.', lacks ?
				` Its check needs ${lacks}, which is not in this page; in the lab, make exercise does it.` :
				' The check runs on node a.');
		this.editor.open(keptAs(chapter, name), data.files);
		this.enable();
		if (this.editor.view)
			this.showFile();
	}

	showFile() {
		return this.editor.show(['server.c', 'carried/server.c'].find(x => x in this.editor.originals) ??
			Object.keys(this.editor.originals)[0]);
	}

	enable(busy = false) {
		for (const [name, one] of Object.entries(this.buttons))
			one.disabled = busy || !this.up || (name === 'check' && Boolean(this.exercise.lacks));
		this.choice.disabled = busy;
	}

	say(text, kind = '') {
		this.result.replaceChildren(element('p', {className: kind}, text));
	}

	// One thing at a time; what fails is said.
	async act(what) {
		this.enable(true);
		try {
			await what();
		} catch (error) {
			this.say(error.message, 'error');
		}
		this.enable();
	}

	async build() {
		this.say('Your copy goes to both nodes, and they compile …');
		const folder = await handOut(this.lab, this.exercise.name);
		const [{status, out, errors}] = await this.lab.both(node => this.lab.build(node.name, folder));
		this.say(status ? 'It could not be built.' : `Built on both nodes, in ${folder}.`, status ? 'error' : 'good');
		this.result.append(this.editor.errors(errors), errors.length ? '' : element('pre', {}, out));
	}

	async check() {
		this.say('Node a builds your copy and runs it, alone and against the chapter …');
		const {out} = await check(this.lab, this.exercise.name);
		this.result.replaceChildren(element('pre', {tabIndex: 0}, verdict(out)));
	}

	async again() {
		this.editor.reset();
		this.lab.task = null;
		await this.showFile();
		this.say('Your copy is as the chapter is.');
	}
}

export function exercisesPanel(page) {
	const exercises = new Exercises(page), {buttons, editor} = exercises;
	const panel = element('div', {}, exercises.choice, exercises.task,
		element('div', {className: 'acts'}, Object.values(buttons)),
		exercises.result, editor.choice, editor.host);
	panel.addEventListener('show', () => editor.view ?? exercises.showFile());
	return panel;
}
