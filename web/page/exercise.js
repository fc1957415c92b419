// Exercises: a copy of the chapter on both nodes, which is the reader's to change.
import {checkExercise} from './checker.js';
import {quote} from './node.js';
import {copyOut} from './repair.js';
import {edits} from './store.js';

// What the reader has changed in the editor stands in the store under this name.
export const keptAs = (chapter, name) => `exercise/${chapter}/${name}`;

// The copy's folder, which stays as it is if it was handed out last; with what the reader
// has changed in the editor.
export async function handOut(lab, name) {
	const {chapter, task} = lab, changed = edits(keptAs(chapter, name));
	if (!lab.data.exercises.some(x => x.name === name))
		throw new RangeError(`${chapter} has no exercise ${name}; it has ${
			lab.data.exercises.map(x => x.name).join(', ')}`);
	if (task?.name !== name || task.chapter !== chapter)
		return copyOut(lab, name, changed);
	for (const [file, text] of Object.entries(changed))
		await lab.write(file, text, task.folder);
	return task.folder;
}

// What `make exercise CHECK=1` says of it, on node a: {status, out}.
export async function check(lab, name) {
	return checkExercise(lab, name, quote(await handOut(lab, name)));
}
