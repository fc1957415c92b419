// The front page's lab: a button, and the first message crosses; then what a reader
// may want to do with it. Nothing of the lab is loaded before the button is pressed.
import {button, element} from './dom.js';
import {cost, unfit} from './fit.js';
import {recorded} from './recorded.js';
import {dissect} from './packet.js';
import {seen} from './seen.js';

const RUN = 'first', FILE = 'first.c';
// The line that makes the message.
export const CALL = /snprintf\(.*"message from/;

const isSend = bytes => {
	const {transport, opcode} = dissect(bytes);
	return transport === 'roce' && opcode === 4;
};

class Door {
	constructor(chapter, top, page) {
		Object.assign(this, {chapter, top, page, lab: page.lab});
		this.said = element('p', {role: 'status'});
		this.buttons = [
			button('Hold it, and step', () => this.hold()),
			button('Lose it', () => this.lose()),
			button('Change it', () => this.change()),
			button('Once more', () => this.run())];
		this.box = element('div', {className: 'seen'}, this.said, element('p', {className: 'then'},
			'Now: ', this.buttons, element('a', {href: new URL(`${chapter}/index.html`, top).href},
				'Chapter 01 explains it')));
		page.status.after(this.box);
	}

	say(text) {
		this.said.textContent = text;
	}

	// What it says of a run that goes on; then, what was seen of it.
	async run(text = 'Both programs run …') {
		this.buttons.forEach(x => { x.disabled = true; });
		this.say(text);
		try {
			await this.lab.run(RUN);
			this.page.ladder.draw();
			this.say(seen(this.lab.packets()) || 'No message has crossed: the terminals say why.');
		} catch (error) {
			this.say(error.message);
		}
		this.buttons.forEach(x => { x.disabled = false; });
		if (this.lab.wire().hold)
			this.lab.wire({hold: false});
	}

	hold() {
		this.lab.wire({hold: true});
		return this.run('Each packet now waits at the wire, and while it does, both machines’ clocks ' +
			'stand still. “Let one go” delivers it; “Drop it” loses it; “Hold” lets all go.');
	}

	lose() {
		this.lab.link.loseOnce(isSend);
		return this.run('The wire will lose the first SEND …');
	}

	change() {
		const lines = this.lab.data.files[FILE].split('\n');
		this.page.views.show('Chapter');
		this.page.tabs.show('Files');
		this.say('This line writes the message. Change its text and press Build: both machines compile ' +
			'it. Then “Once more” sends yours.');
		return this.page.files.show(FILE, lines.findIndex(x => CALL.test(x)) + 1);
	}
}

async function start(chapter, top, section) {
	section.hidden = true;
	section.classList.remove('later');
	document.body.classList.add('lab-wide');
	const {openLab} = await import('./lab_page.js');
	const page = await openLab(chapter, top, new URLSearchParams(`run=${RUN}`));
	if (!page.lab)
		return;
	page.say('');
	await new Door(chapter, top, page).run();
}

// What this browser lacks is said before anything is loaded.
export function openDoor(chapter, top) {
	const section = document.querySelector('.door'), go = section.querySelector('.start');
	const why = unfit();
	section.querySelector('.cost').textContent = why ?
		`${why} So this is a recorded run.` : cost();
	if (why)
		go.replaceWith(recorded(chapter, top));
	go.addEventListener('click', () => start(chapter, top, section));
	section.hidden = false;
}
