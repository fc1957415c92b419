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
