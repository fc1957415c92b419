// An editor on several files, of which one is shown. The browser keeps what is changed.
import {button, element} from './dom.js';
import {edits, forget, keep} from './store.js';

export class Editor {
	// label: of the list of files; what is edited is kept under `name`: see open().
	constructor(top, label) {
		Object.assign(this, {top, view: null, originals: {}});
		this.host = element('div', {className: 'editor'});
		this.choice = element('select', {ariaLabel: label, onchange: () => this.show(this.choice.value)});
	}

	// originals: {file: text}.
	open(name, originals) {
		Object.assign(this, {name, originals, file: null});
		this.choice.replaceChildren(...Object.keys(originals).map(file =>
			element('option', {value: file}, file)));
	}

	edits() {
		return edits(this.name);
	}

	text(file) {
		return this.edits()[file] ?? this.originals[file];
	}

	async show(file, line) {
		// Whoever asks last is shown, though the editor may load meanwhile.
		const asked = this.asked = Symbol(file);
		this.library ??= await import(new URL('web/libraries/editor.js', this.top));
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
		keep(this.name, this.file, this.view.state.doc.toString(), this.originals[this.file]);
	}

	// All files are as they were; returns the names of those that were not.
	reset() {
		const changed = Object.keys(this.edits());
		forget(this.name);
		return changed;
	}

	// What the compiler said of these files, each with a button that shows the line.
	errors(errors) {
		return element('ul', {}, errors.map(({file, line, text}) => element('li', {},
			file in this.originals ? button(`${file}:${line}`, () => this.show(file, line)) :
				`${file}:${line}`, ` ${text}`)));
	}
}
