// The panel "Repair": what a reader is told of a broken copy, its files in an editor,
// a run of it, the check, and three hints.
import {button, element} from './dom.js';
import {Editor} from './editor.js';
import {verdict} from './exercises_panel.js';
import {save} from './wire_panel.js';
import {buildTask, checkTask, handOut, runTask, taskOf, writeTask} from './repair.js';
import {count, exported, hinted, imported, tickOf} from './ticks.js';

const FILE = 'rdma-repairs.json';
// More than this is not read of a file: imported() refuses what is half as long.
const MOST = 200_000;

// A text of inline() in site/repair_data.mjs, as elements.
const inline = (parts, top) => parts.map(part => typeof part === 'string' ? part :
	part.code ? element('code', {}, part.code) :
		element('a', {href: new URL(part.href, top).href}, part.text));

// How each program was run, what it said and complained of, and how it ended.
function said(task) {
	const status = Object.fromEntries((task.said['status.log'] ?? '').split('\n').filter(Boolean)
		.map(line => line.split(': exit status ')));
	const blocks = task.run.programs.map(({label, command}) => {
		const [out = '', err = ''] = ['log', 'err'].map(kind => task.said[`${label}.${kind}`]);
		return element('div', {}, element('code', {}, `${label}: ${command.replaceAll('ORIGINAL', '(the chapter as it is)')}`),
			element('pre', {tabIndex: 0, ariaLabel: `What ${label} said`}, out, element('span', {className: 'error'}, err),
				out || err ? '' : '(nothing)\n', label in status ? `exit status ${status[label]}` : ''));
	});
	return element('details', {open: true}, element('summary', {}, 'What both ends said'),
		element('div', {className: 'both-ends'}, blocks));
}

class Repair {
	constructor(page) {
		const {lab, top} = page;
		Object.assign(this, {page, lab, top, tasks: lab.data.repairs, up: false, given: null,
			all: lab.data.repairs.map(x => taskOf(lab.chapter, x.name))});
		this.editor = new Editor(top, 'Which file of the broken copy');
		this.choice = element('select', {ariaLabel: 'Which repair task',
			onchange: () => this.describe()});
		this.parts = Object.fromEntries(['told', 'hints', 'result', 'score'].map(name =>
			[name, element('div', name === 'result' || name === 'score' ? {role: 'status'} : {})]));
		const act = (text, what) => button(text, () => this.act(what), {disabled: true});
		this.buttons = {run: act('Run it', () => this.run()), check: act('Check', () => this.check()),
			again: act('Begin anew', () => this.again())};
		this.hint = button('Hint', () => this.giveHint());
		this.file = element('input', {type: 'file', accept: '.json,application/json', hidden: true,
			ariaLabel: 'A file of repairs', onchange: () => this.take()});
		page.root.addEventListener('ready', () => {
			this.up = true;
			this.enable();
		});
		this.list();
		this.describe();
	}

	get task() {
		return this.tasks.find(x => x.name === this.choice.value);
	}

	get id() {
		return taskOf(this.lab.chapter, this.task.name);
	}

	// The tasks, those with a tick that are done; and how many in all chapters.
	list() {
		const chosen = this.choice.value || this.tasks[0].name;
		this.choice.replaceChildren(...this.tasks.map(({name, title}) => element('option', {value: name},
			`${tickOf(taskOf(this.lab.chapter, name)).done ? '✓ ' : ''}${title}`)));
		this.choice.value = chosen;
		this.parts.score.textContent = `You have repaired ${count(this.all)} of ${this.all.length} tasks` +
			`${this.all.length > this.tasks.length ? ' in all chapters' : ''}.`;
	}

	// The other chapters' tasks count, too, once their names are here.
	async others() {
		const chapters = await this.lab.get('repairs.json');
		this.all = Object.entries(chapters).flatMap(([chapter, names]) => names.map(x => taskOf(chapter, x)));
		this.list();
	}

	describe() {
		const {symptom, lacks, files} = this.task;
		this.parts.told.replaceChildren(element('p', {}, symptom), lacks ? element('p', {className: 'note'},
			`The check of this task does not run in the page: ${lacks}. In the lab, make repair does it.`) : '',
		said(this.task));
		this.parts.result.replaceChildren();
		this.editor.open(`repair/${this.id}`, {...this.lab.data.files, ...files});
		this.hints();
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
			one.disabled = busy || !this.up || (name === 'check' && Boolean(this.task.lacks));
		this.choice.disabled = busy;
	}

	hints() {
		const given = tickOf(this.id).hints, {hints} = this.task;
		this.hint.textContent = given < hints.length ? `Hint ${given + 1} of ${hints.length}` : 'No more hints';
		this.hint.disabled = given >= hints.length;
		this.parts.hints.replaceChildren(...given ? [element('ol', {},
			hints.slice(0, given).map(x => element('li', {}, inline(x, this.top))))] : []);
	}

	giveHint() {
		hinted(this.id, tickOf(this.id).hints + 1);
		this.hints();
	}

	say(text, wrong = false) {
		this.parts.result.replaceChildren(element('p', {className: wrong ? 'error' : ''}, text));
	}

	// One thing at a time; what fails is said.
	async act(what) {
		this.enable(true);
		try {
			await what();
		} catch (error) {
			this.say(error.message, true);
		}
		this.enable();
	}

	// The broken copy is on the nodes, as the reader has changed it by now.
	async bring() {
		const {task} = this.lab;
		if (this.given !== this.id || task?.name !== this.task.name || task.chapter !== this.lab.chapter) {
			this.say('The broken copy goes to both nodes …');
			await handOut(this.lab, this.task.name);
			this.given = this.id;
		}
		for (const [file, text] of Object.entries(this.editor.edits()))
			await writeTask(this.lab, file, text);
	}

	async run() {
		await this.bring();
		this.say('Both nodes compile …');
		const {status, out, errors} = await buildTask(this.lab);
		if (status) {
			this.parts.result.replaceChildren(element('p', {className: 'error'}, 'It could not be built.'),
				this.editor.errors(errors), errors.length ? '' : element('pre', {}, out));
			return;
		}
		this.say('It runs on both nodes …');
		await runTask(this.lab);
		this.page.ladder.draw();
		this.say('The terminals have what both ends said, and the ladder what crossed.');
	}

	async check() {
		await this.bring();
		this.say('Node a builds your files and runs them, alone and against the chapter as it is. ' +
			'The terminal shows how far it is …');
		const {out, repaired} = await checkTask(this.lab);
		this.parts.result.replaceChildren(element('pre', {tabIndex: 0}, verdict(out)),
			repaired ? element('p', {className: 'good'}, 'Repaired. The browser keeps the tick.') : '');
		this.list();
	}

	async again() {
		this.editor.reset();
		this.given = null;
		this.describe();
		this.say('The copy is broken again as it was.');
	}

	async take() {
		const [file] = this.file.files;
		if (!file)
			return;
		try {
			const {known, unknown} = imported(await file.slice(0, MOST).text(), this.all);
			this.list();
			this.hints();
			this.say(`Taken from ${file.name}: ${known} ${known === 1 ? 'task' : 'tasks'}.` +
				(unknown ? ` It names ${unknown} more, which this book does not have.` : ''));
		} catch (error) {
			this.say(`Nothing was taken from ${file.name}. ${error.message}`, true);
		}
		this.file.value = '';
	}
}

// {panel, choose(name)}: as if the reader had chosen that task.
export function repairPanel(page) {
	const repair = new Repair(page), {parts, buttons, editor} = repair;
	const panel = element('div', {}, repair.choice, parts.told,
		element('div', {className: 'acts'}, buttons.run, buttons.check, repair.hint, buttons.again),
		parts.hints, parts.result, editor.choice, editor.host,
		element('div', {className: 'acts'}, parts.score,
			button('Export', () => save(FILE, exported(), 'application/json')),
			button('Import', () => repair.file.click()), repair.file));
	let shown = false;
	panel.addEventListener('show', () => {
		if (shown)
			return;
		shown = true;
		repair.others().catch(error => repair.say(error.message, true));
		repair.showFile();
	});
	const choose = name => {
		if (!repair.tasks.some(x => x.name === name))
			return;
		repair.choice.value = name;
		repair.describe();
	};
	choose(page.wish.get('repair'));
	return {panel, choose};
}
