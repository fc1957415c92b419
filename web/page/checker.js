// The checks of exercises and repairs: the scripts that do it in a shell, on node a.
import {quote} from './node.js';

// Where the node has these scripts, and where they build and run.
const CHECKER = '/tmp/checker', PLACE = '/tmp/exercise';

export async function unpack(node, name, archive, folder) {
	await node.put(`${name}.tar.gz`, archive.slice());
	const {status, out} = await node.exec(
		`tar -C ${folder} -xzf /page/${name}.tar.gz && rm /page/${name}.tar.gz`);
	if (status)
		throw new Error(`node ${node.name}: ${name}: ${out}`);
}

// script: with its arguments, below scripts/. What it says is on the terminal at once:
// {status, out}.
async function check(lab, script) {
	const {chapter} = lab, node = lab.nodes.a;
	if (!lab.loaded.has('checker')) {
		await unpack(node, 'checker', await lab.archive('checker'), '/tmp');
		lab.loaded.add('checker');
	}
	// What another check has left takes room that a node does not have.
	await node.exec(`rm -rf ${PLACE} && mkdir -p ${PLACE}/${chapter} ${CHECKER}/${chapter}`);
	// The chapter as it is, to check against, built as it comes.
	for (const folder of [CHECKER, `${PLACE}/${chapter}`])
		await unpack(node, chapter, await lab.archive(chapter), folder);
	return node.exec(`cd ${PLACE}/${chapter} && rm -rf original && mv ${chapter} original && ` +
		`{ { DEVICE=host PROGRESS= TASK_PLACE=${PLACE} ${CHECKER}/scripts/${
			script}; echo $? >${PLACE}/status; } </dev/null 2>&1 | ` +
		`tee /dev/ttyS0; } && exit "$(cat ${PLACE}/status)"`);
}

// What `make exercise CHECK=1` says of the reader's copy.
export const checkExercise = (lab, name, folder) =>
	check(lab, `exercise.sh --check ${lab.chapter} ${quote(name)} ${folder}`);

// What `make repair CHECK=1` says of the copy that was handed out.
export const checkRepair = (lab, name, folder) =>
	check(lab, `repair.sh --check ${lab.chapter} ${quote(name)} ${folder}`);
