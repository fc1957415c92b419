// causes.mjs - whether "Open a capture" names what is wrong in each case of make break
//
// usage: node tests/web/causes.mjs FOLDER [all]
//
// FOLDER has captures CHAPTER.CASE.pcapng, as tests/long/test_captures.py makes them,
// and may have those of the other end, CHAPTER.CASE.b.pcapng. Compares what is said of
// each with causes.tsv; with `all`, each case must have been captured. Exit status: 0
// all is said as the table has it, and nine of ten causes that can be seen; 1 not.
import {existsSync, readFileSync, readdirSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {openCapture} from '../../web/page/open_capture.js';

export const rows = readFileSync(new URL('causes.tsv', import.meta.url), 'utf8').split('\n')
	.filter(x => x && x[0] !== '#').map(x => x.split('\t')).map(([name, kind, about]) => ({name, kind, about}));
export const fileOf = ({name}) => name.replace('/', '.');
// Nothing crosses in these, so there is no capture of them; one is of a script of its own.
const silent = ({about}) => /^nothing crosses|^its programs are on one node/.test(about);

// '' if what is found in the captures of a case is what its row says, or what is wrong.
export function verdict({kind, about}, captures) {
	const found = captures.flatMap(x => openCapture(x).found), bad = found.filter(x => x.bad);
	const said = JSON.stringify(found.map(x => x.text));
	if (kind === 'none' || kind === 'right')
		return bad.length ? `it says something of what nobody can see: ${said}` : '';
	return found.some(x => new RegExp(about).test(x.text)) ? '' : `not said: ${about}; but: ${said}`;
}

const read = (folder, name) => ['.pcapng', '.b.pcapng'].map(end => join(folder, name + end)).filter(existsSync)
	.map(path => new Uint8Array(readFileSync(path)));

function main([folder, all]) {
	const tried = {cause: 0, missed: 0}, wrong = [];
	for (const row of rows) {
		const captures = read(folder, fileOf(row));
		if (!captures.length && (silent(row) || !all))
			continue;
		const why = captures.length && !silent(row) ? verdict(row, captures) : silent(row) ? '' : 'there is no capture of it';
		tried[row.kind] = (tried[row.kind] ?? 0) + 1;
		if (why)
			wrong.push(row);
		console.log(`${row.name}\t${row.kind}\t${why || 'as the table has it'}`);
	}
	const cases = readdirSync('.').filter(x => /^\d\d_/.test(x)).flatMap(x => readdirSync(`${x}/break`)
		.filter(y => existsSync(`${x}/break/${y}/commands`)).map(y => `${x}/${y}`));
	const lacks = cases.filter(x => !rows.some(y => y.name === x));
	const named = tried.cause - wrong.filter(x => x.kind === 'cause').length, seen = tried.cause + tried.missed;
	console.log(`${named} of ${seen} causes that can be seen are named; of ${tried.part ?? 0} cases only a part can be seen, of ${
		tried.none ?? 0} nothing` + (lacks.length ? `; the table lacks ${lacks.join(', ')}` : ''));
	return Number(wrong.length > 0 || lacks.length > 0 || named < 0.9 * seen);
}

if (process.argv[1] === fileURLToPath(import.meta.url))
	process.exitCode = process.argv[2] ? main(process.argv.slice(2)) : 2;
