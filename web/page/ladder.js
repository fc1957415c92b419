// The ladder: what both ends say, and the packets between them, as they cross; in
// the colours and words of the recorded ones.
import {drawing, element} from './dom.js';

// Where the lines of the two nodes are, how many characters fit between them, and how
// high a row is. Where the box is wide, what the programs say stands beside; where it is
// not, between the lines; on a telephone, a packet has two lines of text. from: pixels.
const SHAPES = [
	{from: 1150, width: 1350, server: 415, client: 935, side: 56, fits: 79, lines: 1, row: 25},
	{from: 540, width: 720, server: 72, client: 700, side: 84, fits: 84, lines: 1, row: 25, inside: true},
	{from: 0, width: 380, server: 10, client: 370, side: 48, fits: 48, lines: 2, row: 40, inside: true},
];
const TOP = 15, LINE = 25;
// To draw takes longer the more rows there are, and meanwhile no packet crosses. So
// rows are drawn together, and drawing takes one part in so many of the time.
const DRAW_MS = 15, SHARE = 10;

const shorten = (text, width) => text.length > width ? `${text.slice(0, width - 1)}…` : text;

export class Ladder {
	// choose(entry): a packet was clicked. names: of the two ends.
	constructor(choose, names = ['node a: server', 'node b: client']) {
		this.choose = choose;
		this.lives = [drawing('line'), drawing('line')];
		this.heads = names.map(name =>
			drawing('text', {y: 18, class: 'head'}, name));
		this.rows = drawing('g');
		this.svg = drawing('svg', {class: 'ladder', role: 'group',
			'aria-label': 'What crosses the wire, and what both ends say'},
		...this.heads, ...this.lives, this.rows);
		this.box = element('div', {className: 'ladder-box', tabIndex: 0, role: 'region',
			ariaLabel: 'The ladder'}, this.svg);
		this.fit(1000);
		this.clear();
		new ResizeObserver(() => this.box.clientWidth && this.fit(this.box.clientWidth))
			.observe(this.box);
	}

	// Takes the shape for so many pixels, and draws all again if that is another.
	fit(pixels) {
		const shape = SHAPES.find(x => pixels >= x.from);
		if (shape === this.shape)
			return;
		this.shape = shape;
		[shape.server, shape.client].forEach((x, i) => {
			for (const [name, value] of Object.entries({x1: x, x2: x, y1: TOP + 12}))
				this.lives[i].setAttribute(name, value);
			this.heads[i].setAttribute('x', shape.inside ? [4, shape.width - 4][i] : x);
			this.heads[i].setAttribute('text-anchor', shape.inside ? ['start', 'end'][i] : 'middle');
		});
		this.svg.style.setProperty('max-width', `${shape.width * 1.25}px`);
		const entries = [...this.drawn?.keys() ?? []];
		this.rows.replaceChildren();
		this.drawn = new Map();
		this.height = TOP;
		this.append(entries);
		this.resize();
	}

	clear() {
		this.rows.replaceChildren();
		this.drawn = new Map();
		this.height = TOP;
		this.waiting = [];
		this.origin = null;
		this.resize();
	}

	resize() {
		const height = this.height + 20;
		this.svg.setAttribute('viewBox', `0 0 ${this.shape.width} ${height}`);
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
		this.append(this.waiting.splice(0));
		this.resize();
		// Its height is known only when all is laid out, which is what takes long.
		const height = this.box.scrollHeight;
		if (follows)
			this.box.scrollTop = height;
		this.pause = Math.max(DRAW_MS, (SHARE - 1) * (performance.now() - began));
	}

	append(entries) {
		for (const entry of entries) {
			const isPacket = entry.type === 'packet', y = this.height + LINE;
			const row = isPacket ? this.packetRow(entry, y) : this.lineRow(entry, y);
			this.height += isPacket ? this.shape.row : LINE;
			this.drawn.set(entry, row);
			this.rows.append(row);
		}
	}

	// Its fate has changed: it is lost, it has arrived.
	change(entry) {
		const row = this.drawn.get(entry);
		if (row) {
			row.setAttribute('class', classOf(entry));
			row.querySelector('path').setAttribute('d', arrow(entry, row.y, this.shape));
			this.label(row, entry);
		}
	}

	// What is seen of it, and what a screen reader says of it: what is seen, the rest of
	// a label that was shortened, and from where to where, which only the arrow shows.
	label(row, entry) {
		const {packet, record} = entry, whole = labelOf(entry), lines = linesOf(whole, this.shape);
		row.querySelectorAll('.small').forEach((text, i) => { text.textContent = lines[i] ?? ''; });
		const seen = [...row.querySelectorAll('text')].map(x => x.textContent).join(' ').trim();
		row.setAttribute('aria-label', [seen, ...seen.includes(whole) ? [] : [whole], record.captured ?
			`${packet.src} to ${packet.dst}` : `${record.from} to ${record.to}`].join(', '));
	}

	lineRow({node, kind, text}, y) {
		const {server, client, side, inside} = this.shape, left = node === 'a';
		const x = inside ? (left ? server + 8 : client - 8) : left ? 8 : client + 10;
		return drawing('g', {class: 'said'}, drawing('text', {x, y: y + 4,
			'text-anchor': inside && !left ? 'end' : 'start',
			class: kind === 'e' ? 'error' : ''}, shorten(text, side)));
	}

	packetRow(entry, y) {
		this.origin ??= entry.time;
		const {server, client, row: height, lines, inside} = this.shape;
		const choose = () => this.choose(entry);
		const small = [y - 4, y + 12].slice(0, lines).map(at => drawing('text', {
			x: (server + client) / 2, y: at, class: 'small', 'text-anchor': 'middle'}));
		const row = drawing('g', {class: classOf(entry), tabindex: 0, role: 'button', onclick: choose,
			onkeydown: event => ['Enter', ' '].includes(event.key) &&
				(event.preventDefault(), choose())},
		drawing('rect', {x: server, y: y - 16, width: client - server, height: height - 2,
			class: 'touch'}),
		drawing('path', {d: arrow(entry, y, this.shape)}),
		// There is no room for it on a telephone.
		lines === 1 ? drawing('text', {x: server - 8, y: y + 4, class: 'time', 'text-anchor': 'end'},
			`${(entry.time - this.origin).toFixed(inside ? 0 : 1)} ms`) : null,
		// Apart, as words are.
		...small.flatMap(x => [' ', x]));
		this.label(row, entry);
		row.y = y;
		return row;
	}
}

function labelOf({packet, record}) {
	const ends = {lost: ' (lost)', cut: ' (the wire is cut)', waits: ' (waits)'};
	return (record.forged ? 'forged: ' : '') + packet.label + (packet.mark === 'again' ? ' again' : '') +
		(record.twice ? ' (twice)' : '') + (record.late ? ' (late)' : '') +
		(ends[record.fate] ?? '');
}

// A label in as many lines as its row has, each as long as fits.
export function linesOf(text, {fits, lines}) {
	const out = [];
	while (out.length < lines - 1 && text.length > fits) {
		const at = text.lastIndexOf(' ', fits);
		out.push(text.slice(0, at > 0 ? at : fits));
		text = text.slice(at > 0 ? at + 1 : fits);
	}
	return [...out, shorten(text, fits)];
}

function classOf({packet, record}) {
	return ['packet', packet.mark, record.fate, record.forged && 'nak'].filter(Boolean).join(' ');
}

// What never arrives ends in the middle, with a cross.
function arrow({record}, y, {server, client}) {
	const right = record.from === 'a';
	const from = right ? server : client, to = right ? client : server, tip = right ? -6 : 6;
	if (record.fate === 'lost' || record.fate === 'cut' || record.fate === 'waits') {
		const half = (from + to) / 2;
		return `M${from} ${y}H${half}` + (record.fate === 'waits' ? '' :
			`m-5 -5l10 10m0 -10l-10 10`);
	}
	return `M${from} ${y}H${to}m${tip} -4l${-tip} 4l${tip} 4`;
}
