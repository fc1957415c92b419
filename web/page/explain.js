// What docs/troubleshooting/ says of an error line: scripts/explain.py, in the page. Its
// patterns come from there (web/site/explained.py); a test compares the two.
const NAMED = /docs\/troubleshooting(?:\/\w+)?\.md#([\w-]+)/;
const CERTAIN = 3, SURE = 2;
// Who prints without end is not listened to without end.
const MOST_LINES = 500;

// Lower case, no punctuation, but negative numbers.
function plain(line) {
	return line.toLowerCase().replace(/(?<!\w)-(?=\d)/g, '\0').replace(/[^a-z0-9_\0]+/g, ' ').replaceAll('\0', '-').trim();
}

// entries: as explained.json has them. Their patterns become regular expressions once.
export const compiled = entries => entries.map(x => ({...x,
	patterns: x.patterns.map(([sure, pattern, ofWords]) => ({sure, pattern: new RegExp(pattern, 'u'), ofWords}))}));

function score({patterns}, line, words) {
	let best = [0, 0];
	for (const {sure, pattern, ofWords} of patterns) {
		const size = pattern.exec(ofWords ? words : line)?.[0].length;
		if (size !== undefined && (sure > best[0] || sure === best[0] && size > best[1]))
			best = [sure, size];
	}
	return best;
}

// {entry, sure}, the best one, or null.
export function lookUp(line, entries) {
	const named = entries.find(x => x.anchor === NAMED.exec(line)?.[1]);
	if (named)
		return {entry: named, sure: CERTAIN};
	const words = plain(line), best = {entry: null, score: [0, 0]};
	for (const entry of entries) {
		const [sure, size] = score(entry, line, words);
		if (sure > best.score[0] || sure && sure === best.score[0] && size > best.score[1])
			Object.assign(best, {entry, score: [sure, size]});
	}
	return best.entry && {entry: best.entry, sure: best.score[0]};
}

// Of what a terminal shows, from when the reader has last pressed Enter: the first line
// that names a cause, or else the first that only follows from one.
export class Explainer {
	constructor(entries) {
		Object.assign(this, {entries, decoder: new TextDecoder(), line: '', found: null, left: MOST_LINES});
	}

	// Returns what is to be shown now: an entry, or null.
	hear(bytes) {
		const lines = (this.line + this.decoder.decode(bytes, {stream: true})).split('\n');
		// A program may write without end and without a line.
		this.line = lines.pop().slice(-2000);
		for (const line of lines) {
			const hit = this.found && !this.found.follows || this.left-- <= 0 ? null :
				lookUp(line.replace(/\x1b\[[0-9;?]*[A-Za-z]|[\x00-\x08\x0b-\x1f]/g, '').slice(0, 2000), this.entries);
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
