// Did a run tell the same story as the logged one? The same answer as that of
// scripts/compare_logs.sh, in the page.
import {Races} from './races.js';
import {sameStory} from './order.js';

const byServer = (one, other) => other.startsWith('server') - one.startsWith('server') ||
	(one < other ? -1 : 1);

function readAll(rules, files, names) {
	const logs = {};
	for (const name of [...names].sort(byServer))
		logs[name] = rules.read(name, files[name] ?? '', names);
	return logs;
}

// For each log that differs: its lines as [' ' + '-' + '+', text].
function differences(ours, theirs) {
	const flat = lines => lines.flatMap(x => x.lines ?? [x]);
	return Object.keys(theirs).map(name => ({name,
		lines: diff(flat(theirs[name]), flat(ours[name]))}));
}

// The longest common subsequence of the shapes.
function diff(expected, run) {
	const n = expected.length, m = run.length;
	const best = Array.from({length: n + 1}, () => new Uint32Array(m + 1));
	for (let i = n - 1; i >= 0; i--)
		for (let j = m - 1; j >= 0; j--)
			best[i][j] = expected[i].shape === run[j].shape ? best[i + 1][j + 1] + 1 :
				Math.max(best[i + 1][j], best[i][j + 1]);
	const out = [];
	let i = 0, j = 0;
	while (i < n || j < m) {
		if (i < n && j < m && expected[i].shape === run[j].shape) {
			out.push([' ', run[j].text]);
			i++;
			j++;
		} else if (j >= m || (i < n && best[i + 1][j] >= best[i][j + 1])) {
			out.push(['-', expected[i++].text]);
		} else {
			out.push(['+', run[j++].text]);
		}
	}
	return out;
}

// rules: of tokens.js; run: {name: text}; expected: {files: {name: text}, races}.
// {matches, differences: [{name, lines}]}, or trouble: why they cannot be compared.
export function compare(rules, run, {files, races: declared}) {
	const races = new Races(declared ?? '');
	const names = Object.keys(files).filter(x => /\.(log|err)$/.test(x));
	const missing = names.filter(x => x.endsWith('.log') && !(x in run));
	if (missing.length)
		return {matches: false, trouble: `the run has no ${missing.join(', ')}`};
	const theirs = races.split(readAll(rules, files, names));
	const ours = races.split(readAll(rules, run, names));
	for (const name of Object.keys(theirs))
		ours[name] ??= [];
	for (const name of Object.keys(ours))
		theirs[name] ??= [];
	for (const logs of [theirs, ours]) {
		races.count(logs);
		races.group(logs);
	}
	return sameStory(ours, theirs, races) ? {matches: true, differences: []} :
		{matches: false, differences: differences(ours, theirs)};
}
