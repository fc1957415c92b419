// The chapter's files in an editor; Build compiles them on both nodes.
import {button, element} from './dom.js';
import {edits, forget, keep} from './store.js';
import {save} from './wire_panel.js';

class Files {
	constructor(page) {
		Object.assign(this, {page, lab: page.lab, view: null});
		this.chapter = this.lab.chapter;
		this.originals = this.lab.data.files;
		this.result = element('div', {role: 'status'});
		this.host = element('div', {className: 'editor'});
		this.choice = element('select', {'ariaLabel': 'Which file',
			onchange: () => this.show(this.choice.value)},
		Object.keys(this.originals).map(name => element('option', {value: name}, name)));
		this.buildButton = button('Build', () => this.build(), {disabled: true});
		page.root.addEventListener('ready', () => this.ready());
	}

	text(file) {
		return edits(this.chapter)[file] ?? this.originals[file];
	}

	// What was edited on an earlier visit goes to the nodes again.
	async ready() {
		for (const [file, text] of Object.entries(edits(this.chapter)))
			await this.lab.write(file, text);
		this.buildButton.disabled = false;
	}

	async show(file, line) {
		// Whoever asks last is shown, though the editor may load meanwhile.
		const asked = this.asked = Symbol(file);
		this.library ??= await import(new URL('web/libraries/editor.js', this.page.top));
		if (asked !== this.asked)
			return;
		const {EditorView, basicSetup, cpp, oneDark} = this.library;
		const dark = getComputedStyle(document.documentElement).colorScheme === 'dark';
		this.file = this.choice.value = file;
		this.view?.destroy();
		this.view = new EditorView({doc: this.text(file), parent: this.host,
			extensions: [basicSetup, cpp(), dark ? oneDark : [],
				EditorView.contentAttributes.of({'aria-label': file}),
				EditorView.updateListener.of(update => update.docChanged && this.changed())]});
		if (line) {
			const at = this.view.state.doc.line(Math.min(line, this.view.state.doc.lines));
			this.view.dispatch({selection: {anchor: at.from}, scrollIntoView: true});
			this.view.focus();
		}
	}

	changed() {
		keep(this.chapter, this.file, this.view.state.doc.toString(), this.originals[this.file]);
		this.unsent = true;
	}

	async build() {
		this.buildButton.disabled = true;
		this.result.textContent = 'Both nodes compile …';
		try {
			for (const [file, text] of Object.entries(edits(this.chapter)))
				await this.lab.write(file, text);
			const [built] = await this.lab.both(node => this.lab.build(node.name));
			this.say(built);
		} catch (error) {
			this.result.textContent = error.message;
		}
		this.buildButton.disabled = false;
	}

	say({status, out, errors}) {
		this.result.replaceChildren(
			element('p', {className: status ? 'error' : 'good'}, status ?
				'It could not be built.' : 'Built on both nodes. Run it, or type ./server -1.'),
			element('ul', {}, errors.map(({file, line, text}) => element('li', {},
				file in this.originals ? button(`${file}:${line}`, () => this.show(file, line)) :
					`${file}:${line}`, ` ${text}`))),
			errors.length ? '' : element('pre', {}, out));
	}

	async reset() {
		for (const file of Object.keys(edits(this.chapter)))
			await this.lab.write(file, this.originals[file]);
		forget(this.chapter);
		await this.show(this.file ?? Object.keys(this.originals)[0]);
		this.result.textContent = 'All files are as the chapter has them; Build makes the programs so, too.';
	}
}

export function filesPanel(page) {
	const files = new Files(page);
	const panel = element('div', {}, files.choice, files.buildButton,
		button('Reset', () => files.reset()),
		button('Download', () => save(files.choice.value.replace('/', '_'),
			files.text(files.choice.value), 'text/plain')),
		files.result, files.host);
	panel.addEventListener('show', () => files.view ?? files.show(
		['client.c', 'carried/client.c'].find(x => x in files.originals) ?? files.choice.value));
	return {panel, show: (file, line) => files.show(file, line)};
}
