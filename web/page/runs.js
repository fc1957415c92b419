// Runs programs on the nodes as a file `commands` says, and keeps what they say:
// what scripts/pair.sh does in the lab.
import {copyFiles, quote} from './node.js';

const LIMIT = 120;

// One program; what it said, its exit status, and when it listens.
class Program {
	constructor(label) {
		Object.assign(this, {label, out: [], err: [], status: null});
		this.listens = new Promise(resolve => { this.isListening = resolve; });
		this.ended = new Promise(resolve => { this.isEnded = resolve; });
	}

	hear({kind, text}) {
		if (kind === 'x') {
			this.status = Number(text);
			this.isListening();
			this.isEnded();
			return;
		}
		(kind === 'o' ? this.out : this.err).push(text);
		if (kind === 'o' && text.includes('listening'))
			this.isListening();
	}
}

// Several commands: for a shell.
const SEVERAL = /[;&|]/;
const files = 'find . -type f';

// In the lab, both programs of a run on one node are in one folder. Certificates that
// a server makes, before it listens, are there for its client, too.
async function share({a, b}, folder) {
	const {status} = await a.exec(`cd ${quote(folder)} && ${files} | grep -vxFf /tmp/files >/tmp/new`);
	if (status === 0)
		await copyFiles(a, b, folder, '$(cat /tmp/new)');
}

const text = lines => lines.map(line => `${line}\n`).join('');

const isServer = label => label.startsWith('server');

// Where a program of the run is started. What is set up and recorded on one node counts
// what that node's kernel has; and a program without a server is both ends by itself.
export function nodeOf({nodes, setup, programs}, label) {
	const one = nodes === 1 && (setup.length > 0 || !programs.some(x => isServer(x.label)));

	return one || isServer(label) ? 'a' : 'b';
}

// nodes: {a, b}; run: {programs}; folder: where, on both nodes. The logs, as
// pair.sh would have left them: {'server.log': …, 'client.err': …, 'status.log': …}.
export async function runPrograms(nodes, run, folder) {
	const programs = new Map();
	const listen = ({detail}) => programs.get(detail.label)?.hear(detail);

	for (const node of Object.values(nodes))
		node.addEventListener('said', listen);
	try {
		for (const {label, command, waits} of run.programs) {
			const serves = isServer(label), node = nodes[nodeOf(run, label)];
			const shares = serves && run.nodes === 1 && SEVERAL.test(command);
			const program = new Program(label);
			programs.set(label, program);
			if (shares)
				await node.exec(`cd ${quote(folder)} && ${files} >/tmp/files`);
			const started = await node.exec(`cd ${quote(folder)} && { echo; echo ${
				quote(`$ ${command}`)}; } >/dev/ttyS0 && { tell ${label} ${LIMIT} bash -c ${
				quote(SEVERAL.test(command) ? command : `exec ${command}`)} & }`);
			if (started.status)
				throw new Error(`${label}: ${started.out || 'could not be started'}`);
			if (serves)
				await program.listens;
			if (shares)
				await share(nodes, folder);
			if (!serves && waits)
				await program.ended;
		}
		await Promise.all([...programs.values()].map(x => x.ended));
	} finally {
		for (const node of Object.values(nodes))
			node.removeEventListener('said', listen);
	}
	// Nobody waits for that: it may take until a packet on hold is let go.
	for (const node of Object.values(nodes))
		node.prompt();
	return logsOf(programs);
}

export function logsOf(programs) {
	const logs = {};
	let status = '';
	for (const {label, out, err, status: code} of programs.values()) {
		logs[`${label}.log`] = text(out);
		if (err.length)
			logs[`${label}.err`] = text(err);
		status += `${label}: exit status ${code}\n`;
	}
	logs['status.log'] = status;
	return logs;
}
