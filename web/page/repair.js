// Repair tasks: a broken copy of the chapter on both nodes, a run of it, and the check.
import {copyFiles, quote} from './node.js';
import {edits} from './store.js';
import {runPrograms} from './runs.js';
import {checkRepair, unpack} from './checker.js';
import {tick} from './ticks.js';

const WORK = '/root/work', ORIGINAL = '/root/original';

export const taskOf = (chapter, name) => `${chapter}/${name}`;
// What the reader has changed of a task stands in the store under this name.
export const editsOf = (chapter, name) => edits(`repair/${taskOf(chapter, name)}`);

function found(lab, name) {
	const task = lab.data.repairs.find(x => x.name === name);
	if (!task)
		throw new RangeError(`${lab.chapter} has no repair task ${name}; it has ${
			lab.data.repairs.map(x => x.name).join(', ')}`);
	return task;
}

// The chapter as it is, in a folder of a node.
async function place(lab, node, archive, folder) {
	const above = folder.slice(0, folder.lastIndexOf('/'));
	const {status, out} = await node.exec(`rm -rf ${folder} && mkdir -p ${above}`);
	if (status)
		throw new Error(`node ${node.name}: ${out}`);
	await unpack(node, lab.chapter, archive, above);
	await node.exec(`[ ${above}/${lab.chapter} = ${folder} ] || mv ${above}/${lab.chapter} ${folder}`);
}

// Puts a copy of the chapter with these files on both nodes: its folder there.
export async function copyOut(lab, name, files) {
	const {chapter} = lab, folder = `${WORK}/${chapter.slice(0, 2)}_${name}`;
	const archive = await lab.archive(chapter);
	// There is room for one task at a time.
	await lab.both(node => node.exec(`rm -rf ${WORK}`));
	await lab.both(async node => {
		await place(lab, node, archive, folder);
		for (const [file, text] of Object.entries(files))
			await node.write(`${folder}/${file}`, text);
	});
	lab.task = {chapter, name, folder};
	return folder;
}

// Puts the broken copy on both nodes, with what the reader has changed on it: what is
// known of the task, and its folder there.
export async function handOut(lab, name) {
	const task = found(lab, name);
	const folder = await copyOut(lab, name, {...task.files, ...editsOf(lab.chapter, name)});
	const {title, symptom, said, lacks} = task;
	return {title, symptom, said, lacks, folder};
}

// The task that was handed out last.
function current(lab) {
	if (!lab.task || lab.task.chapter !== lab.chapter)
		throw new RangeError(`no task of ${lab.chapter} was handed out: lab.repair(name) does that; there is ${
			lab.data.repairs.map(x => x.name).join(', ')}`);
	return lab.task;
}

// Writes the reader's version of one file.
export const writeTask = (lab, file, text) => lab.write(file, text, current(lab).folder);

// Builds the copy on both nodes: {status, out, errors}.
export async function buildTask(lab) {
	const {folder} = current(lab);
	const [built] = await lab.both(node => lab.build(node.name, folder));
	return built;
}

// The visit's certificates; but those that the task's own certs.sh makes, if that is what
// is broken.
async function certify(lab, name, folder) {
	await lab.certify(`${ORIGINAL}/${lab.chapter}`);
	if (!('certs.sh' in found(lab, name).files)) {
		await lab.certify(folder);
		return;
	}
	const {status, out} = await lab.nodes.a.exec(`cd ${folder} && bash certs.sh certs >/dev/null`);
	if (status)
		throw new Error(`certificates: ${out}`);
	await copyFiles(lab.nodes.a, lab.nodes.b, folder, 'certs');
}

// Runs it as the task was run, for who wants to see that on the wire.
export async function runTask(lab) {
	const {name, folder} = current(lab), {run} = found(lab, name);
	if (run.programs.some(({command}) => command.includes('ORIGINAL'))) {
		const archive = await lab.archive(lab.chapter);
		await lab.both(node => place(lab, node, archive, `${ORIGINAL}/${lab.chapter}`));
	}
	await certify(lab, name, folder);
	lab.clear();
	const programs = run.programs.map(program => ({...program,
		command: program.command.replaceAll('ORIGINAL', `${ORIGINAL}/${lab.chapter}`)}));
	return runPrograms(lab.nodes, {...run, programs}, folder);
}

// Checks the copy on node a, as `make repair CHECK=1` does: {repaired, status, out}. Once
// it is repaired, the browser keeps that.
export async function checkTask(lab) {
	const {chapter, name, folder} = current(lab), {lacks} = found(lab, name);
	if (lacks)
		throw new RangeError(`the check of ${name} does not run in the page: ${lacks}`);
	const {status, out} = await checkRepair(lab, name, quote(folder));
	if (status === 0)
		tick(taskOf(chapter, name));
	return {repaired: status === 0, status, out};
}
