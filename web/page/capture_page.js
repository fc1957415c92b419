// The page that opens a capture: a file dropped or chosen, read in a worker, drawn.
import {element} from './dom.js';
import {Ladder} from './ladder.js';
import {details} from './details.js';

const ROWS = 100;

const number = (n, what) => `${n.toLocaleString('en')} ${what}${n === 1 ? '' : 's'}`;

class Captures {
	constructor(top) {
		this.top = top;
		this.drop = document.querySelector('.drop');
		[this.state, this.happened, this.crossed] = ['.state', '.happened', '.crossed']
			.map(x => document.querySelector(x));
		this.drop.hidden = false;
		this.input = this.drop.querySelector('input');
		this.input.addEventListener('change', () => this.open(this.input.files[0]));
		// Anywhere on the page: a browser leaves it for a file that is dropped beside.
		for (const [type, over] of [['dragover', true], ['dragleave', false], ['drop', false]])
			document.addEventListener(type, event => {
				event.preventDefault();
				this.drop.classList.toggle('over', over);
				if (type === 'drop')
					this.open(event.dataTransfer.files[0]);
			});
	}

	open(file) {
		if (!file)
			return;
		this.worker?.terminate();
		this.happened.replaceChildren();
		this.crossed.replaceChildren();
		this.state.textContent = `${file.name} is read …`;
		this.worker = new Worker(new URL('./capture_worker.js', import.meta.url), {type: 'module', name: 'the capture'});
		this.worker.onerror = event => this.say(event.message || 'it could not be read');
		this.worker.onmessage = ({data: {count, trouble, done}}) => {
			if (count)
				this.state.textContent = `${file.name} is read: ${number(count, 'frame')} …`;
			else if (trouble)
				this.say(trouble);
			else
				this.show(file.name, done);
			if (!count)
				this.worker.terminate();
		};
		this.worker.postMessage(file);
	}

	say(text) {
		this.state.textContent = text;
	}

	show(name, {entries, names, count, packets, others, broken, cut, trouble, found}) {
		this.say(`${name}: ${number(count, 'frame')}, of which ${number(packets, 'packet')} of RoCE v2 or TCP ` +
			'tell something. ' + (others ? `${number(others, 'other frame')} left out. ` : '') +
			(broken ? `${number(broken, 'frame')} not whole. ` : '') +
			(cut ? `The capture has not kept all of ${number(cut, 'frame')}: give tcpdump -s 0. ` : '') +
			(trouble ? `Only what stands before the fault was read: ${trouble}. ` : '') +
			(packets > entries.length ? `The first ${entries.length} are drawn.` : ''));
		this.happened.replaceChildren(...found.map(({text, place, bad}) => element('li', {className: bad ? 'bad' : ''},
			`${text} `, element('a', {href: new URL(place, this.top).href}, 'What that means'))),
		found.length ? '' : element('li', {}, packets ?
			'The wire shows nothing that went wrong. What a program did with what it got, it does not show.' :
			'There is nothing of RDMA in it: RoCE v2 is UDP to port 4791.'));
		this.draw(entries, names);
	}

	draw(entries, names) {
		if (!entries.length)
			return;
		const packet = element('div');
		const ladder = new Ladder(entry => packet.replaceChildren(details(entry, null, null, 'h2')), names);
		this.crossed.replaceChildren(ladder.box, packet);
		// Some rows at a time: to draw all at once, the page would stand still.
		const more = at => {
			for (const entry of entries.slice(at, at + ROWS))
				ladder.add(entry);
			const {scrollTop} = ladder.box;
			ladder.draw();
			ladder.box.scrollTop = scrollTop;
			if (at + ROWS < entries.length && ladder.box.isConnected)
				setTimeout(more, 0, at + ROWS);
		};
		more(0);
	}
}

export const openCaptures = top => new Captures(top);
