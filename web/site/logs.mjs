// The recorded logs below a folder of expected/ or break/, as the page compares a
// run with them. The kernel in the page is a 6.1: folders linux-X.Y are for others.
import {existsSync, readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';

const UNSEEN = /[\p{C}\p{Zl}\p{Zp}]/u;
const isLog = name => /\.(log|err)$/.test(name);

function filesOf(folder) {
	const files = {};
	for (const name of readdirSync(folder).filter(isLog))
		files[name] = readFileSync(join(folder, name), 'utf8');
	return files;
}

function racesOf(folder) {
	const path = join(folder, 'races');
	return existsSync(path) ? readFileSync(path, 'utf8') : '';
}

// [{files, races}]: of the folder.
export const expectedLogs = folder => ({files: filesOf(folder), races: racesOf(folder)});

// What a file `commands` says: {title, nodes, setup: [], programs: [{label, command,
// waits}]}.
export function readCommands(path) {
	const run = {title: '', nodes: 1, setup: [], programs: []};
	for (const line of readFileSync(path, 'utf8').split('\n')) {
		// The page shows a command on the terminal before it runs it. What is seen
		// there must be what is run.
		if (UNSEEN.test(line))
			throw new Error(`${path}: a control character, which no terminal shows: ${
				JSON.stringify(line)}`);
		const at = line.indexOf(': ');
		if (line.startsWith('#'))
			run.title ||= line.slice(1).trim();
		if (line.startsWith('#') || at < 0)
			continue;
		const label = line.slice(0, at), command = line.slice(at + 2);
		if (label === 'nodes')
			run.nodes = Number(command);
		else if (label === 'setup')
			run.setup.push(command);
		else
			run.programs.push({label: label.replace(/&$/, ''), command,
				waits: !label.endsWith('&')});
	}
	return run;
}
