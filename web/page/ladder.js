// The ladder: what both ends say, and the packets between them, as they cross; in
// the colours and words of the recorded ones.
import {drawing, element} from './dom.js';

const WIDTH = 1350, SERVER = 415, CLIENT = 935;
const SIDE = 56, MIDDLE = 79;
const ROW = 25, TOP = 40;
// To draw takes longer the more rows there are, and meanwhile no packet crosses. So
// rows are drawn together, and drawing takes one part in so many of the time.
const DRAW_MS = 15, SHARE = 10;

const shorten = (text, width) => text.length > width ? `${text.slice(0, width - 1)}…` : text;

export class Ladder {
	// choose(entry): a packet was clicked.
	constructor(choose) {
		this.choose = choose;
		this.lives = [SERVER, CLIENT].map(x =>
			drawing('line', {x1: x, x2: x, y1: TOP - 10, y2: TOP}));
		this.rows = drawing('g');
		this.svg = drawing('svg', {class: 'ladder', role: 'group',
			'aria-label': 'What crosses the wire, and what both ends say'},
		drawing('text', {x: SERVER, y: 18, class: 'head', 'text-anchor': 'middle'}, 'node a: server'),
		drawing('text', {x: CLIENT, y: 18, class: 'head', 'text-anchor': 'middle'}, 'node b: client'),
		...this.lives, this.rows);
		this.box = element('div', {className: 'ladder-box', tabIndex: 0}, this.svg);
		this.clear();
	}

	clear() {
		this.rows.replaceChildren();
		this.drawn = new Map();
		this.waiting = [];
		this.origin = null;
		this.resize();
	}

	resize() {
		const height = TOP + this.drawn.size * ROW + 20;
		this.svg.setAttribute('viewBox', `0 0 ${WIDTH} ${height}`);
		for (const life of this.lives)
			life.setAttribute('y2', height);
	}

	add(entry) {
		this.waiting.push(entry);
		this.timer ??= setTimeout(() => this.draw(), this.pause ?? DRAW_MS);
	}

	// What waits to be drawn, now.
	draw() {
		const began = performance.now();
		clearTimeout(this.timer);
		this.timer = null;
		if (!this.waiting.length)
			return;
		const follows = this.box.scrollTop + this.box.clientHeight >= this.box.scrollHeight - 40;
		for (const entry of this.waiting.splice(0)) {
			const y = TOP + (this.drawn.size + 1) * ROW;
			const row = entry.type === 'packet' ? this.packetRow(entry, y) : this.lineRow(entry, y);
			this.drawn.set(entry, row);
			this.rows.append(row);
		}
		this.resize();
		// Its height is known only when all is laid out, which is what takes long.
		const height = this.box.scrollHeight;
		if (follows)
			this.box.scrollTop = height;
		this.pause = Math.max(DRAW_MS, (SHARE - 1) * (performance.now() - began));
	}

	// Its fate has changed: it is lost, it has arrived.
	change(entry) {
		const row = this.drawn.get(entry);
		if (row) {
			row.setAttribute('class', classOf(entry));
			row.querySelector('path').setAttribute('d', arrow(entry, row.y));
			row.querySelector('.small').textContent = labelOf(entry);
		}
	}

	lineRow({node, kind, text}, y) {
		return drawing('g', {class: 'said'}, drawing('text', {
			x: node === 'a' ? 8 : CLIENT + 10, y: y + 4,
			class: kind === 'e' ? 'error' : ''}, shorten(text, SIDE)));
	}

	packetRow(entry, y) {
		this.origin ??= entry.time;
		const choose = () => this.choose(entry);
		const row = drawing('g', {class: classOf(entry), tabindex: 0, role: 'button',
			onclick: choose,
			onkeydown: event => ['Enter', ' '].includes(event.key) &&
				(event.preventDefault(), choose())},
		drawing('rect', {x: SERVER, y: y - 16, width: CLIENT - SERVER, height: ROW - 2,
			class: 'touch'}),
		drawing('path', {d: arrow(entry, y)}),
		drawing('text', {x: SERVER - 8, y: y + 4, class: 'time', 'text-anchor': 'end'},
			`${(entry.time - this.origin).toFixed(1)} ms`),
		drawing('text', {x: (SERVER + CLIENT) / 2, y: y - 4, class: 'small',
			'text-anchor': 'middle'}, labelOf(entry)));
		row.y = y;
		return row;
	}
}

function labelOf({packet, record}) {
	const ends = {lost: ' (lost)', cut: ' (the wire is cut)', waits: ' (waits)'};
	return shorten((record.forged ? 'forged: ' : '') + packet.label + (packet.mark === 'again' ? ' again' : '') +
		(record.twice ? ' (twice)' : '') + (record.late ? ' (late)' : '') +
		(ends[record.fate] ?? ''), MIDDLE);
}

function classOf({packet, record}) {
	return ['packet', packet.mark, record.fate, record.forged && 'nak'].filter(Boolean).join(' ');
}

// What never arrives ends in the middle, with a cross.
function arrow({record}, y) {
	const right = record.from === 'a';
	const from = right ? SERVER : CLIENT, to = right ? CLIENT : SERVER, tip = right ? -6 : 6;
	if (record.fate === 'lost' || record.fate === 'cut' || record.fate === 'waits') {
		const half = (from + to) / 2;
		return `M${from} ${y}H${half}` + (record.fate === 'waits' ? '' :
			`m-5 -5l10 10m0 -10l-10 10`);
	}
	return `M${from} ${y}H${to}m${tip} -4l${-tip} 4l${tip} 4`;
}
