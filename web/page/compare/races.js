// What a file `races` declares: which lines may change places, which may stand for
// one another, and which numbers count lines. scripts/compare_logs.sh -h has its
// syntax; scripts/lib/log_races.py is the same for the shell.
import {Line, plainToken} from './tokens.js';

const escaped = text => text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');

// A race's pattern as a regular expression for a whole text.
function compiled(pattern) {
	const seen = new Set(), lines = pattern.trim().split(' + ');
	const source = lines.join('\n').split(/(\*|\{\w+\})/).map(part => {
		if (part === '*')
			return '.*';
		if (!/^\{\w+\}$/.test(part))
			return escaped(part);
		const name = `v_${part.slice(1, -1)}`, again = seen.has(name);
		seen.add(name);
		return again ? `\\k<${name}>` : `(?<${name}>.+?)`;
	}).join('');
	const regex = new RegExp(`^(?:${source})$`, 'd');
	regex.lines = lines.length;
	return regex;
}

// The name of a log, or of what was set apart from it, against a shell's pattern.
function fits(name, pattern) {
	const regex = pattern.split('*').map(escaped).join('.*');
	return new RegExp(`^${regex}$`).test(name.split(' of ')[0]);
}

const names = text => text.match(/\{\w+\}/g) ?? [];

// Whether text is one line, and the pattern's first has all its names.
function isMeant(pattern, text) {
	const first = names(pattern.split(' + ')[0]);
	return text.trim() !== '' && !text.includes('*') && !text.includes(' + ') &&
		names(text).every(x => first.includes(x));
}

export class Races {
	constructor(text) {
		Object.assign(this,
			{pairs: [], counts: [], choices: [], meanings: [], parts: []});
		for (const line of text.split('\n'))
			if (line.trim() && !line.trimStart().startsWith('#'))
				this.add(line);
	}

	add(text) {
		const colon = text.indexOf(': ');
		const log = text.slice(0, colon).trim(), rest = text.slice(colon + 2);
		if (/^.*\{\w+\}.* apart$/.test(rest)) {
			this.parts.push({log, pattern: compiled(rest.replace(/ apart$/, ''))});
			return;
		}
		for (const [sign, kind] of [[' <> ', this.pairs], [' counts ', this.counts],
			[' | ', this.choices], [' means ', this.meanings]]) {
			const at = rest.indexOf(sign);
			if (at < 0 || (kind === this.counts && !rest.slice(0, at).includes('{n}')))
				continue;
			const left = rest.slice(0, at), right = rest.slice(at + sign.length);
			if (kind === this.meanings && !isMeant(left, right))
				break;
			kind.push({log, left: compiled(left), text,
				right: kind === this.meanings ? right.trim() : compiled(right)});
			return;
		}
		throw new SyntaxError(`no race: ${text}`);
	}

	// The logs, with what is to be compared apart in logs of their own.
	split(logs) {
		if (!this.parts.length)
			return logs;
		const out = {};
		for (const [name, lines] of Object.entries(logs)) {
			out[name] = [];
			for (const line of lines) {
				const whose = this.partOf(line);
				for (const token of whose === null ? [] : line.tokens)
					if (token.ofEnd)
						token.key += ` of ${whose}`;
				const part = whose === null ? name : `${name} of ${whose}`;
				(out[part] ??= []).push(line);
			}
		}
		return out;
	}

	partOf(line) {
		for (const {log, pattern} of this.parts) {
			const match = pattern.exec(line.text);
			if (match && fits(line.log, log))
				return match.slice(1).join(' ');
		}
		return null;
	}

	// Puts what they mean in the place of the lines of a block.
	reword(logs) {
		for (const {log, left, right} of this.meanings)
			for (const name of Object.keys(logs).filter(x => fits(x, log)))
				logs[name] = reworded(logs[name], left, right);
	}

	// Makes lines alike of which one may stand for the other.
	choose(logs) {
		this.choices.forEach(({log, left, right}, at) => {
			for (const name of Object.keys(logs).filter(x => fits(x, log)))
				logs[name] = logs[name].map(line =>
					left.test(line.text) || right.test(line.text) ?
						withToken(line, 0, line.text.length, `<a line of ${at}>`) : line);
		});
	}

	// Puts in the place of each number that counts lines whether it is right.
	count(logs) {
		for (const {log, left, right} of this.counts)
			for (const name of Object.keys(logs).filter(x => fits(x, log))) {
				const lines = logs[name];
				let seen = 0;
				lines.forEach((line, at) => {
					const match = left.exec(line.text);
					if (match) {
						const ok = match.groups.v_n === String(seen);
						lines[at] = withToken(line, ...match.indices.groups.v_n,
							ok ? '<count>' : `${match.groups.v_n} (not ${seen})`);
					}
					if (right.test(line.text))
						seen++;
				});
			}
	}

	// The lines of a log, with those that form a block made one.
	group(lines) {
		const out = [];
		for (let at = 0; at < lines.length;) {
			const size = this.blockSize(lines, at);
			out.push(size > 1 ? block(lines.slice(at, at + size)) : lines[at]);
			at += size;
		}
		return out;
	}

	blockSize(lines, at) {
		for (const {log, left, right} of this.pairs)
			for (const pattern of [left, right]) {
				const text = lines.slice(at, at + pattern.lines).map(x => x.text).join('\n');
				if (pattern.lines > 1 && fits(lines[at].log, log) && pattern.test(text))
					return pattern.lines;
			}
		return 1;
	}

	racy(line) {
		return this.pairs.some(({log, left, right}) => fits(line.log, log) &&
			(left.test(line.text) || right.test(line.text)));
	}

	// Whether these two lines of a log may change places.
	swap(one, two) {
		return this.pairs.some(({log, left, right}) => fits(one.log, log) && (
			left.test(one.text) && right.test(two.text) ||
			left.test(two.text) && right.test(one.text)));
	}
}

function block(lines) {
	return {lines, log: lines[0].log, number: lines[0].number,
		tokens: lines.flatMap(line => line.tokens),
		text: lines.map(line => line.text).join('\n'),
		shape: lines.map(line => `${line.shape}\n`).join('')};
}

// The lines, with the text in the place of those that fit the pattern.
function reworded(lines, pattern, text) {
	const out = [];
	for (let at = 0; at < lines.length;) {
		const these = lines.slice(at, at + pattern.lines);
		const match = pattern.exec(these.map(x => x.text).join('\n'));
		out.push(match ? inWords(these[0], match, text) : lines[at]);
		at += match ? these.length : 1;
	}
	return out;
}

// One line for a block that matches and begins with this one: each name in text is
// what it was in it, with its tokens.
function inWords(line, match, text) {
	const tokens = [];
	let out = '';
	text.split(/\{(\w+)\}/).forEach((part, i) => {
		if (i % 2) {
			const [start, end] = match.indices.groups[`v_${part}`];
			const by = out.length - start;
			tokens.push(...line.tokens.filter(x => start <= x.start && x.end <= end)
				.map(x => ({...x, start: x.start + by, end: x.end + by})));
			part = match.groups[`v_${part}`];
		}
		out += part;
	});
	return new Line(out, line.log, line.number, tokens);
}

function withToken(line, start, end, label) {
	const others = line.tokens.filter(x => x.end <= start || x.start >= end);
	return new Line(line.text, line.log, line.number,
		[...others, plainToken(line.text, start, end, label)]
			.sort((one, other) => one.start - other.start));
}
