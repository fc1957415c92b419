// Is one set of logs another run of the same story? It is, if the lines of each log
// pair up so that both have the same text, every token stands for one value of the
// other run throughout and in both directions, and only lines that are declared as
// a race changed places. scripts/lib/log_order.py is the same for the shell.

const STEPS = 200_000;

class Names {
	constructor() {
		this.there = new Map();
		this.back = new Map();
	}

	// What is new, or null, if a value already stands for another.
	bind(run, expected) {
		const fresh = [];
		for (const [i, ours] of run.tokens.entries()) {
			const a = ours.key, b = expected.tokens[i].key;
			if (!ours.identity)
				continue;
			if (!this.there.has(a) && !this.back.has(b)) {
				this.there.set(a, b);
				this.back.set(b, a);
				fresh.push([a, b]);
			} else if (this.there.get(a) !== b) {
				this.unbind(fresh);
				return null;
			}
		}
		return fresh;
	}

	unbind(pairs) {
		for (const [a, b] of pairs) {
			this.there.delete(a);
			this.back.delete(b);
		}
	}
}

// The places of the expected lines not yet seen that may come now and look right.
function* candidates(line, rest, races) {
	const before = [];
	for (let place = 0; place < rest.length; place++) {
		const expected = rest[place];
		if (expected.shape === line.shape && before.every(x => races.swap(x, expected)))
			yield place;
		if (!races.racy(expected))
			return;
		before.push(expected);
	}
}

// Whether the run tells the story; reached: how many of its lines paired up at the
// best try, for the one to show who looks for the difference.
export function pairing(run, expected, races) {
	const rest = {}, lines = [], names = new Names(), stack = [];
	let steps = 0, reached = 0;

	for (const log of Object.keys(run)) {
		rest[log] = races.group(expected[log]);
		lines.push(...races.group(run[log]).map(line => [log, line]));
	}
	const same = lines.length === Object.values(rest).reduce((n, x) => n + x.length, 0);
	const push = () => {
		if (stack.length === lines.length)
			return true;
		const [log, line] = lines[stack.length];
		stack.push({log, line, places: candidates(line, rest[log], races), taken: null});
		return false;
	};
	if (push())
		return {matches: same, reached, lines};
	while (stack.length) {
		const entry = stack.at(-1);
		if (entry.taken) {
			names.unbind(entry.taken.fresh);
			rest[entry.log].splice(entry.taken.place, 0, entry.taken.line);
			entry.taken = null;
		}
		const {value: place, done} = entry.places.next();
		if (done) {
			stack.pop();
			continue;
		}
		if (++steps > STEPS)
			throw new RangeError('the races allow more orders than can be tried');
		const fresh = names.bind(entry.line, rest[entry.log][place]);
		if (fresh === null)
			continue;
		entry.taken = {place, fresh, line: rest[entry.log].splice(place, 1)[0]};
		reached = Math.max(reached, stack.length);
		if (push())
			return {matches: same, reached, lines};
	}
	return {matches: false, reached, lines};
}
