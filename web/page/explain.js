// What docs/troubleshooting/ and docs/faq.md say of an error line: scripts/explain.py, in the
// page. The table is the same one (web/site/explained.py); a test compares the two.
const NAMED = /docs\/troubleshooting(?:\/\w+)?\.md#([\w-]+)/;
export const CERTAIN = 3, SURE = 2;
// Who prints without end is not listened to without end.
const MOST = 1000, MOST_LINES = 500;
// What a reader pastes is read as scripts/explain.py reads a log.
const MOST_PASTED = 20000, NAMED_ENTRIES = 3;
const TROUBLE = /error|fail|warn|fatal|unable|cannot|could ?n.t|invalid|refused|denied|time(d )?out|not /i;
const NUMBER = /^(?:-?\d{1,3}|0x[\da-f]{1,2})$/;

const plain = line => line.replace(/(?<=[a-z]{2})(?=[A-Z])/g, ' ').toLowerCase()
	.replace(/(?<![a-z0-9_])-(?=\d)/g, '\0').replace(/[^a-z0-9\0]+/g, ' ').replaceAll('\0', '-').trim().split(' ');

// The statuses and errnos that are in the line as numbers: numbers() in explain.py says how.
function numbers(parts, {errno, before, statusOf, errnoOf, wc}) {
	const tokens = parts.map(x => x[0]);
	const have = new Set(tokens), found = [], all = ['', ...tokens];
	const event = tokens.some(x => x.startsWith('CM_'));
	const status = statusOf.some(x => have.has(x)) && !errnoOf.some(x => have.has(x));
	const verbs = have.has('completion') && have.has('vendor') || parts.some(x => wc.includes(x[1]));
	for (let at = 2; at < all.length; at++) {
		const [above, last, word] = all.slice(at - 2, at + 1);
		if (!NUMBER.test(word) || ['vendor', 'comp', 'max'].includes(above) || word[0] !== '-' && !before.includes(last))
			continue;
		const number = parseInt(word, word.includes('x') ? 16 : 10);
		const token = number > 0 && event ? 'reason' :
			number > 0 && (status && last !== 'errno' || above === 'prov' || above === 'fail' && last === 'status') ?
				`${status && verbs ? 'STATUS' : 'status'}_${number}` :
				last === 'status' && [...have].every(x => ['status', 'number', word].includes(x)) ? `status_${number}` :
					errno[Math.abs(number)];
		if (token)
			found.push([token, `${last} ${word}`]);
	}
	return found;
}

// The line's tokens, each with the words that it is made of.
function parts(line, data) {
	const words = plain(line), found = line.startsWith('error: ') ? [['our', 'error']] : [];
	for (let at = 0; at < words.length;) {
		const [rest, token] = Object.hasOwn(data.phrases, words[at]) &&
			data.phrases[words[at]].find(([x]) => x.every((y, i) => words[at + 1 + i] === y)) || [[], words[at]];
		found.push([token, words.slice(at, at + 1 + rest.length).join(' ')]);
		at += 1 + rest.length;
	}
	return [...found, ...numbers(found, data)];
}

const cut = line => [...line].slice(0, MOST).join('');

// Is there a proof, and in the rest of the line no other one, nor anything else that an errno may be of?
function proven(proofs, others, {objects, doubts}) {
	const byErrno = proofs.every(x => x[0] === 'E');
	return proofs.length > 0 && !others.some(x => doubts.includes(x)) && !others.some(x => /[A-Z]/.test(x) ? byErrno || x[0] !== 'E' : byErrno && objects.includes(x));
}

// data: as explained.json has it. [{entry, sure, why}], the best one first.
export function lookUp(whole, data) {
	const line = cut(whole), named = data.entries[NAMED.exec(line)?.[1]];
	if (named)
		return [{entry: named, sure: CERTAIN, why: 'the line names it'}];
	const words = new Map(parts(line, data)), best = new Map();
	for (const [anchor, level, all, none] of data.rules) {
		const used = all.map(some => some.find(x => words.has(x)));
		if (!level || used.includes(undefined) || none.some(x => words.has(x)))
			continue;
		const proofs = used.filter(x => /[A-Z]/.test(x)), others = [...words.keys()].filter(x => !all.flat().includes(x));
		const one = {entry: data.entries[anchor], sure: level === 2 && proven(proofs, others, data) ? SURE : 1, size: used.length + 2 * proofs.length,
			why: [...new Set(used.map(x => words.get(x)))].join(', ')};
		const old = best.get(anchor);
		if (!old || one.sure > old.sure || one.sure === old.sure && one.size > old.size)
			best.set(anchor, one);
	}
	return [...best.values()].sort((a, b) => b.sure - a.sure || a.entry.follows - b.entry.follows || b.size - a.size);
}

// The entries that have rare words of one of the lines: [{entry, common, why}], the best one first.
function byWords(lines, data) {
	const best = new Map();
	for (const line of lines) {
		const words = [...new Set(parts(cut(line), data).map(x => x[0]))].filter(x => Object.hasOwn(data.rare, x));
		// How much of the rule of an entry that fits best is in the line.
		const nearly = new Map();
		for (const [anchor, , all, none] of data.rules)
			if (!none.some(x => words.includes(x)))
				nearly.set(anchor, Math.max(nearly.get(anchor) ?? 0, all.map(some => words.filter(x => some.includes(x)))
					.reduce((sum, fit, i) => sum + (fit.length ? Math.max(...fit.map(x => data.rare[x])) :
						-Math.min(...all[i].map(x => data.rare[x] ?? data.worth))), 0)));
		for (const [anchor, entry] of Object.entries(data.entries)) {
			const found = words.filter(x => entry.words.includes(x));
			const common = 3 * (nearly.get(anchor) ?? 0) + found.reduce((sum, x) => sum + data.rare[x], 0);
			if (common > (best.get(anchor)?.common ?? 0))
				best.set(anchor, {entry, common, why: `in common: ${found
					.sort((a, b) => data.rare[b] - data.rare[a]).slice(0, 4).join(', ')}`});
		}
	}
	return [...best.values()].sort((a, b) => b.common - a.common);
}

// What explain.py says of a text: the line that it is about, undefined if no rule fits; its
// number, 0 if it is the only one; how sure the first entry is; and at most three entries.
export function explain(text, data) {
	const all = text.replace(/\n$/, '').split(/\r?\n/), seen = new Set();
	const hits = all.map((line, i) => ({line, number: all.length > 1 ? i + 1 : 0}))
		.filter(({line}) => !seen.has(line) && seen.add(line)).slice(0, MOST_PASTED)
		.map(x => ({...x, found: lookUp(x.line, data)})).filter(x => x.found.length);
	const hit = hits.find(x => !x.found[0].entry.follows) ?? hits[0];
	const lines = hit ? [hit.line] : all.length > 1 ? all.filter(x => TROUBLE.test(cut(x))).slice(0, 20) : all;
	const found = [...hit?.found ?? []], sure = found[0]?.sure ?? 0, near = sure < CERTAIN ? byWords(lines, data) : [];
	if (sure && sure < SURE) {
		const much = new Map(near.map(x => [x.entry, x.common])), ahead = new Map(found.map((x, i) => [x, (much.get(x.entry) ?? 0) - data.ahead * i]));
		found.sort((a, b) => a.entry.follows - b.entry.follows || ahead.get(b) - ahead.get(a));
	}
	found.push(...near.filter(({entry, common}) => common > (hit ? 2 : data.worth) && !entry.follows && !found.some(x => x.entry === entry)));
	return {line: hit?.line, number: hit?.number ?? 0, sure, found: found.slice(0, NAMED_ENTRIES)};
}

// Of what a terminal shows, from when the reader has last pressed Enter: the first line
// that names a cause, or else the first that only follows from one.
export class Explainer {
	constructor(data) {
		Object.assign(this, {data, decoder: new TextDecoder(), line: '', found: null, left: MOST_LINES});
	}

	// Returns what is to be shown now: an entry, or null.
	hear(bytes) {
		const lines = (this.line + this.decoder.decode(bytes, {stream: true})).split('\n');
		// A program may write without end and without a line.
		this.line = lines.pop().slice(-2000);
		for (const line of lines) {
			const [hit] = this.found && !this.found.follows || this.left-- <= 0 ? [] :
				lookUp(line.replace(/\x1b\[[0-9;?]*[A-Za-z]|[\x00-\x08\x0b-\x1f]/g, ''), this.data);
			if (hit && hit.sure >= SURE && !(this.found && hit.entry.follows))
				this.found = hit.entry;
		}
		return this.found;
	}

	forget() {
		this.left = MOST_LINES;
		this.found = null;
	}
}
