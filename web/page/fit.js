// Why the lab cannot run in this browser; '' if it can. What is missing is asked
// for, so that a test can ask with less.
export function unfit(world = globalThis) {
	if (typeof world.WebAssembly !== 'object')
		return 'This browser has no WebAssembly, in which the machines run.';
	if (typeof world.Worker !== 'function')
		return 'This browser has no workers, in which the machines run.';
	if ((world.navigator?.deviceMemory ?? 8) < 2)
		return 'This device has too little memory for two machines.';
	return '';
}

// What the lab costs, said before anything of it is loaded; world as above.
export function cost(world = globalThis) {
	const link = world.navigator?.connection;
	return 'It loads about 14 MB, once, and takes up to 600 MB of memory and two of this ' +
		'device\'s processors while it is open.' +
		(link?.saveData || link?.type === 'cellular' ?
			' This device is on a connection that counts what it loads.' : '');
}
