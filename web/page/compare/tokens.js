// What changes in a log from one run to the next. The rules are those of
// scripts/lib/log_tokens.py, from which the site's builder takes the table; what
// is done with them is the same here as there, and a test compares the two.

// As there: what follows the first so many characters of a line is compared as it stands.
const LONGEST = 2000;

// {lines: [Line]} of one log; see Rules.read.
export class Line {
	constructor(text, log, number, tokens) {
		Object.assign(this, {text, log, number, tokens});
		this.shape = this.render(token => `\0${token.label}`);
	}

	// The line with each token replaced by what name(token) gives.
	render(name) {
		let out = '', at = 0;
		for (const token of this.tokens) {
			out += this.text.slice(at, token.start) + name(token) + token.form;
			at = token.end;
		}
		return out + this.text.slice(at);
	}
}

export function plainToken(text, start, end, label) {
	return {cls: 'n', raw: text.slice(start, end), start, end, label, form: '',
		identity: false, key: ''};
}

// The 32 digits of an address, the same for both ways to write it; null if it is
// none; '' for one that is nobody's.
export function addressDigits(raw) {
	let text = raw.split('%')[0];
	const v4 = /^(?:(.*):)?(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text);
	if (v4) {
		const bytes = v4.slice(2).map(Number);
		if (bytes.some((x, i) => x > 255 || (v4[i + 2].length > 1 && v4[i + 2][0] === '0')))
			return null;
		const words = `${(bytes[0] << 8 | bytes[1]).toString(16)}:` +
			(bytes[2] << 8 | bytes[3]).toString(16);
		text = v4[1] === undefined ? `::ffff:${words}` : `${v4[1]}:${words}`;
	}
	const halves = text.split('::');
	if (halves.length > 2)
		return null;
	const [left, right] = halves.map(x => x ? x.split(':') : []);
	const words = right === undefined ? left :
		[...left, ...Array(Math.max(0, 8 - left.length - right.length)).fill('0'), ...right];
	if (words.length !== 8 || words.some(x => !/^[0-9a-f]{1,4}$/i.test(x)))
		return null;
	const digits = words.map(x => x.toLowerCase().padStart(4, '0')).join('');
	const unspecified = /^0{32}$|^0{20}ffff0{8}$/.test(digits);
	return (unspecified ? '' : digits) + (raw.includes('%') ? `%${raw.split('%')[1]}` : '');
}

export class Rules {
	// table: what site/rules.py prints.
	constructor(table) {
		this.tokens = table.tokens.map(([cls, scope, regex]) =>
			({cls, scope, regex: new RegExp(regex, 'gid')}));
		this.owners = table.owners.map(([who, regex]) => [who, new RegExp(regex, 'gi')]);
		this.exact = new RegExp(`^(?:${table.exact})`);
		this.ports = new Set(table.ports);
	}

	// The value without the ways to write it; null if it is no token.
	normal(cls, raw) {
		if (['DEV', 'SERIAL', 'ssl', 'n'].includes(cls))
			return raw;
		if (cls === 'IP')
			return addressDigits(raw) || null;
		const value = raw.startsWith('0x') ? BigInt(raw) : BigInt(raw.replace(/^0+(?=.)/, ''));
		if (['ADDR', 'KEY', 'QPN', 'PID'].includes(cls) && value === 0n)
			return null;
		if (cls === 'PORT' && (this.ports.has(Number(value)) || value < 1024n))
			return null;
		return value;
	}

	// Who a value belongs to, by the nearest word in the text before it.
	ownerOf(before, end) {
		let nearest = -1, who = 'own';
		for (const [whose, regex] of this.owners)
			for (const match of before.matchAll(regex))
				if (match.index + match[0].length > nearest) {
					nearest = match.index + match[0].length;
					who = whose;
				}
		if (who === 'own')
			return end;
		if (who === 'peer')
			return {server: 'client', client: 'server'}[end] ?? 'peer';
		return who;
	}

	// The number of the pair whose end wrote a log of these; '' if it is of none.
	pairOf(log, logs) {
		const [, number] = /^[a-z]*(\d*)/.exec(log);
		return ['server', 'client'].every(end => logs.includes(`${end}${number}.log`)) ? number : '';
	}

	token(cls, scope, owner, raw, start, end) {
		const base = ['PSN', 'QPN', 'KEY', 'LID'].includes(cls);
		const ofEnd = ['end', 'pair'].includes(scope);
		return {cls, raw, start, end, identity: scope !== 'none',
			key: `${cls} ${ofEnd ? owner : ''} ${this.normal(cls, raw)}`,
			ofEnd,
			form: base && !raw.startsWith('0x') ? '/decimal' : '',
			label: cls === 'n' ? (end - start > raw.length ? ' <n>' : '<n>') : cls};
	}

	lineTokens(text, end, pair) {
		const found = [];
		for (const {cls, scope, regex} of this.tokens)
			for (const match of text.matchAll(regex)) {
				let [start, stop] = match.indices.groups.v;
				if (cls === 'n')
					start = match.index;
				if (this.normal(cls, match.groups.v) === null)
					continue;
				if (found.some(t => start < t.end && t.start < stop))
					continue;
				found.push(this.token(cls, scope, this.ownerOf(text.slice(0, start), end) +
					(scope === 'pair' ? pair : ''), match.groups.v, start, stop));
			}
		return found.sort((one, other) => one.start - other.start);
	}

	// The lines of a log, which is one of those of a run, cut up.
	read(name, text, logs) {
		const end = name.split(/[-.\d]/)[0], pair = this.pairOf(name, logs);
		const texts = text.split('\n');
		if (texts.at(-1) === '')
			texts.pop();
		return texts.map((line, i) => {
			const tokens = this.exact.test(line) ? [] : this.lineTokens(line.slice(0, LONGEST), end, pair);
			return new Line(line, name, i + 1, tokens);
		});
	}
}
