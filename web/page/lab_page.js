// The lab as the reader sees it: two terminals, the wire with its ladder, and what
// can be done with the chapter.
import {Lab} from './lab.js';
import {Ladder} from './ladder.js';
import {button, element} from './dom.js';
import {makeTabs, makeViews} from './tabs.js';
import {loadExplained, makeTerminal} from './terminal.js';
import {wirePanel} from './wire_panel.js';
import {runPanel} from './run_panel.js';
import {linksOf} from './wiretap.js';
import {wiretapPanel} from './wiretap_panel.js';
import {filesPanel} from './files_panel.js';
import {exercisesPanel} from './exercises_panel.js';
import {check} from './exercise.js';
import {repairPanel} from './repair_panel.js';
import {checkTask, handOut} from './repair.js';
import {statesPanel} from './states_panel.js';
import {details} from './details.js';
import {codeOf} from './code_of.js';
import {unfit} from './fit.js';
import {recorded} from './recorded.js';
import {follow} from './link.js';
import {keepLab} from './offline.js';

function style(top, path) {
	return new Promise(resolve => document.head.append(element('link', {rel: 'stylesheet',
		href: new URL(path, top).href, onload: resolve, onerror: resolve})));
}

class LabPage {
	constructor(chapter, top, wish) {
		Object.assign(this, {chapter, top, wish});
		this.status = element('p', {className: 'status', role: 'status'});
		this.body = element('div', {className: 'lab-body'});
		this.root = element('section', {className: 'lab', 'ariaLabel': 'The lab'},
			element('div', {className: 'lab-head'}, element('h2', {}, 'The lab'),
				button('Wide', () => document.body.classList.toggle('lab-wide')),
				button('Close', () => location.assign(location.pathname))),
			this.status, this.body);
	}

	say(text, wrong = false) {
		this.status.textContent = text;
		this.status.classList.toggle('error', wrong);
	}

	showPacket(entry) {
		const code = codeOf(entry.packet, this.lab.data.files);
		const link = ({file, line}) => new URL(`${this.chapter}/${file}.html#L${line}`, this.top).href;
		this.packet.replaceChildren(details(entry, code, link));
		this.packet.hidden = false;
		this.packet.scrollIntoView({block: 'nearest'});
	}

	build() {
		const {lab} = this;
		this.packet = element('div', {hidden: true});
		this.ladder = new Ladder(entry => this.showPacket(entry));
		lab.addEventListener('entry', ({detail}) => this.ladder.add(detail));
		lab.addEventListener('change', ({detail}) => this.ladder.change(detail));
		lab.addEventListener('clear', () => {
			this.ladder.clear();
			this.packet.hidden = true;
		});
		const terminals = element('div', {className: 'terminals'}), wire = wirePanel(lab);
		this.files = filesPanel(this);
		this.panels = {runs: runPanel(this, 'runs'), cases: runPanel(this, 'cases'),
			...lab.data.repairs.length && {repairs: repairPanel(this)}};
		this.tabs = makeTabs({
			'Run': this.panels.runs.panel,
			'Break it': this.panels.cases.panel,
			...this.panels.repairs && {'Repair': this.panels.repairs.panel},
			'Files': this.files.panel,
			...lab.data.exercises.length && {'Exercises': exercisesPanel(this)},
			...linksOf(this.chapter).length && {'Third party': wiretapPanel(this)},
			'Queue pairs': statesPanel(this),
		}, this.wish.has('repair') && this.panels.repairs ? 'Repair' : this.wish.has('case') ? 'Break it' : 'Run',
		'The chapter');
		const chapter = element('div', {className: 'chapter-box'}, this.tabs.row, this.tabs.box);
		const ladder = element('div', {className: 'ladder-part'}, this.ladder.box, this.packet);
		this.views = makeViews(this.body, {Ladder: [ladder, wire], Terminals: [terminals],
			Wire: [wire], Chapter: [chapter]});
		this.body.append(this.views.row, chapter, terminals, wire, ladder);
		lab.addEventListener('clear', () => this.views.show('Ladder'));
		for (const node of Object.values(lab.nodes))
			terminals.append(makeTerminal(node, lab, this.explained, this.terminals));
	}

	// What a button in the text asks for: a run is run; a case is only chosen, since the
	// reader predicts it first, and so is a task.
	here(kind, name) {
		if (!this.panels?.[kind])
			return;
		this.panels[kind].choose(name);
		this.tabs.show({runs: 'Run', cases: 'Break it', repairs: 'Repair'}[kind]);
		this.views.show('Chapter');
		this.root.scrollIntoView({block: 'nearest'});
		if (kind === 'runs')
			this.panels.runs.run();
	}

	async open() {
		document.body.classList.add('with-lab');
		// Before the text: where there is no room beside it, the lab is what was asked for.
		document.querySelector('main').before(this.root);
		const why = unfit();
		if (why) {
			this.say(`${why} Here is the recorded run instead.`, true);
			this.body.append(recorded(this.chapter, this.top));
			return;
		}
		await Promise.all([style(this.top, 'web/page/lab.css'),
			style(this.top, 'web/libraries/xterm.css')]);
		this.say('Loading two machines (about 14 MB, once) …');
		this.lab = new Lab(this.top, this.chapter);
		this.lab.addEventListener('trouble', ({detail}) => this.say(detail, true));
		this.terminals = await import('./terminal.js').then(x => x.loadTerminal(this.top));
		const ready = this.lab.start();
		expose(this, ready);
		try {
			[this.explained] = await Promise.all([loadExplained(this.lab), this.lab.described]);
			this.build();
			await ready;
			this.say('Both nodes are up: a has 192.0.2.1, b has 192.0.2.2, and the chapters are in ~.');
			this.root.dispatchEvent(new Event('ready'));
			this.kept = keepLab(this.top, this.chapter);
			follow(this.wish, this.lab, (text, wrong) => this.say(text, wrong));
		} catch (error) {
			this.say(`The lab did not start: ${error.message}`, true);
			this.body.append(recorded(this.chapter, this.top));
			throw error;
		}
	}
}

// For teachers and tests: see web/README.md.
function expose(page, ready) {
	const {lab} = page;
	const use = async (chapter, what) => {
		if (chapter && chapter !== lab.chapter)
			await lab.change(chapter);
		const result = await what();
		page.ladder.draw();
		return result;
	};
	window.lab = {
		ready: () => ready,
		kept: () => page.kept,
		type: (node, text) => lab.nodes[node].type(text),
		screen: node => lab.nodes[node].screen?.() ?? '',
		packets: () => lab.packets(),
		wire: settings => lab.wire(settings),
		step: what => lab.link.step(what)?.number ?? null,
		run: (chapter, run) => use(chapter, () => lab.run(run)),
		exec: (node, command) => lab.nodes[node].exec(command),
		break: (name, chapter) => use(chapter, () => lab.break(name)),
		exercise: (name, chapter) => use(chapter, () => check(lab, name)),
		repair: (name, chapter) => use(chapter, () => handOut(lab, name)),
		check: () => checkTask(lab),
		wiretap: (link, chapter) => use(chapter, () => lab.wiretap(link)),
		write: (file, text) => lab.write(file, text),
		build: node => lab.build(node),
		capture: () => lab.capture(),
		queuePairs: node => lab.queuePairs(node),
	};
}

export async function openLab(chapter, top, wish) {
	const page = new LabPage(chapter, top, wish);
	await page.open();
	return page;
}
