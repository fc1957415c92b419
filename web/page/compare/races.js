// What a file `races` declares: which lines may change places, which may stand for
// one another, and which numbers count lines. scripts/compare_logs.sh -h has its
// syntax; scripts/lib/log_races.py is the same for the shell.
import {Line, plainToken} from './tokens.js';

const escaped = text => text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');

// A race's pattern as a regular expression for a whole text.
function compiled(pattern) {
	const lines = pattern.trim().split(' + ');
	const source = lines.join('\n').split(/(\*|\{\w+\})/).map(part => part === '*' ? '.*' :
		/^\{\w+\}$/.test(part) ? `(?<v_${part.slice(1, -1)}>.+?)` : escaped(part)).join('');
	const regex = new RegExp(`^(?:${source})$`, 'd');
	regex.lines = lines.length;
	return regex;
}

// The name of a log, or of what was set apart from it, against a shell's pattern.
function fits(name, pattern) {
	const regex = pattern.split('*').map(escaped).join('.*');
	return new RegExp(`^${regex}$`).test(name.split(' of ')[0]);
}

export class Races {
	constructor(text) {
		Object.assign(this, {pairs: [], choices: [], counts: [], parts: []});
		for (const line of text.split('\n'))
			if (line.trim() && !line.trimStart().startsWith('#'))
				this.add(line);
	}

	add(text) {
		const [, log, rest] = /^(.*?): (.*)$/.exec(text) ?? [];
		for (const [form, kind] of [[/^(.*\{\w+\}.*) apart$/, this.parts],
			[/^(.+) <> (.+)$/, this.pairs], [/^(.*\{n\}.*) counts (.+)$/, this.counts],
			[/^(.+) \| (.+)$/, this.choices]]) {
			const match = form.exec(rest ?? '');
			if (match) {
				kind.push({log: log.trim(), text, patterns: match.slice(1).map(compiled)});
				return;
			}
		}
		throw new SyntaxError(`no race: ${text}`);
	}

	// The logs, with what is to be compared apart in logs of their own.
	split(logs) {
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
		for (const {log, patterns: [pattern]} of this.parts) {
			const match = pattern.exec(line.text);
			if (match && fits(line.log, log))
				return match.slice(1).join(' ');
		}
		return null;
	}

	// Puts in the place of each number that counts lines whether it is right.
	count(logs) {
		for (const {log, patterns: [left, right]} of this.counts)
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

	// Makes one of the lines that form a block, and makes alike what may stand for one
	// another.
	group(logs) {
		for (const [name, lines] of Object.entries(logs)) {
			logs[name] = [];
			for (let at = 0, size; at < lines.length; at += size) {
				let race;
				[size, race] = this.unit(lines, at);
				const unit = size > 1 ? block(lines.slice(at, at + size)) : lines[at];
				logs[name].push(!this.choices.includes(race) ? unit :
					withToken({...unit, tokens: []}, 0, unit.text.length, `<a line of ${race.text}>`));
			}
		}
	}

	// How many lines the longest block has that begins at lines[at], and its race.
	unit(lines, at) {
		let best = [1];
		for (const race of [...this.choices, ...this.pairs])
			for (const pattern of race.patterns) {
				const text = lines.slice(at, at + pattern.lines).map(x => x.text).join('\n');
				if ((pattern.lines > best[0] || !best[1]) && pattern.test(text) &&
				    fits(lines[at].log, race.log))
					best = [pattern.lines, race];
			}
		return best;
	}

	racy(line) {
		return this.pairs.some(({log, patterns}) => fits(line.log, log) &&
			patterns.some(x => x.test(line.text)));
	}

	// Whether these two lines of a log may change places.
	swap(one, two) {
		return this.pairs.some(({log, patterns: [left, right]}) => fits(one.log, log) && (
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

function withToken(line, start, end, label) {
	return new Line(line.text, line.log, line.number,
		[...line.tokens, plainToken(line.text, start, end, label)]
			.sort((one, other) => one.start - other.start));
}
