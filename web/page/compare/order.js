// Is one set of logs another run of the same story? It is, if the lines of each log
// pair up so that both have the same text, every token stands for one value of the
// other run throughout and in both directions, and only lines that are declared as
// a race changed places. scripts/lib/log_races.py and compare_logs.py are the same for
// the shell.

// Whether the tokens of two lines of one shape stand for one another, as far as is known
// of others; there and back: what stands for what.
function bind(ours, theirs, there, back) {
	return ours.tokens.every((mine, i) => {
		const a = mine.key, b = theirs.tokens[i].key;
		if (!mine.identity)
			return true;
		if (!there.has(a) && !back.has(b)) {
			there.set(a, b);
			back.set(b, a);
		}
		return there.get(a) === b;
	});
}

// The place of the first of the lines that looks like this one and may come now; -1 if
// there is none.
function placeOf(line, rest, races) {
	const before = [];
	for (const [place, other] of rest.entries()) {
		if (other.shape === line.shape)
			return before.every(x => races.swap(x, other)) ? place : -1;
		if (!races.racy(other))
			return -1;
		before.push(other);
	}
	return -1;
}

// Whether the run tells the story. Its lines and blocks, as Races.group() made them.
export function sameStory(run, expected, races) {
	const there = new Map(), back = new Map();
	return Object.entries(expected).every(([log, lines]) => {
		const rest = [...run[log]];
		return lines.length === rest.length && lines.every(line => {
			const place = placeOf(line, rest, races);
			return place >= 0 && bind(rest.splice(place, 1)[0], line, there, back);
		});
	});
}
