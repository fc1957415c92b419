// The chapter's files in an editor; Build compiles them on both nodes.
import {button, element} from './dom.js';
import {Editor} from './editor.js';
import {save} from './wire_panel.js';

class Files {
	constructor(page) {
		Object.assign(this, {page, lab: page.lab, editor: new Editor(page.top, 'Which file')});
		this.editor.open(this.lab.chapter, this.lab.data.files);
		this.result = element('div', {role: 'status'});
		this.buildButton = button('Build', () => this.build(), {disabled: true});
		page.root.addEventListener('ready', () => this.ready());
	}

	async send() {
		for (const [file, text] of Object.entries(this.editor.edits()))
			await this.lab.write(file, text);
	}

	// What was edited on an earlier visit goes to the nodes again.
	async ready() {
		await this.send();
		this.buildButton.disabled = false;
	}

	async build() {
		this.buildButton.disabled = true;
		this.result.textContent = 'Both nodes compile …';
		try {
			await this.send();
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
			this.editor.errors(errors), errors.length ? '' : element('pre', {}, out));
	}

	async reset() {
		const {originals} = this.editor;
		for (const file of this.editor.reset())
			await this.lab.write(file, originals[file]);
		await this.editor.show(this.editor.file ?? Object.keys(originals)[0]);
		this.result.textContent = 'All files are as the chapter has them; Build makes the programs so, too.';
	}
}

export function filesPanel(page) {
	const files = new Files(page), {editor} = files;
	const panel = element('div', {}, editor.choice, files.buildButton,
		button('Reset', () => files.reset()),
		button('Download', () => save(editor.choice.value.replace('/', '_'),
			editor.text(editor.choice.value), 'text/plain')),
		files.result, editor.host);
	panel.addEventListener('show', () => editor.view ?? editor.show(
		['client.c', 'carried/client.c'].find(x => x in editor.originals) ?? editor.choice.value));
	return {panel, show: (file, line) => editor.show(file, line)};
}
