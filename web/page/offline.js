// What the service worker shall keep for a time without a network: what this page
// is made of, and the lab once it has been opened.
import {element} from './dom.js';

const possible = () => 'serviceWorker' in navigator && location.protocol !== 'file:';

// The lab's own files: what the workers load is not among what the page loads.
const LAB = ['lab/state.zst', 'lab/state.json', 'lab/rules.json', 'lab/checker.tar.gz',
	'lab/repairs.json',
	'libraries/libv86.mjs', 'libraries/v86.wasm', 'libraries/editor.js',
	'page/unpack_worker.js', 'page/node_worker.js', 'page/clock.js', 'page/card.js',
	'page/machine_options.js'];

// Resolves when all is kept: true; false if something could not be.
async function keep(addresses) {
	const {active} = await navigator.serviceWorker.ready;
	const {port1, port2} = new MessageChannel();
	return new Promise(resolve => {
		port1.onmessage = ({data}) => resolve(data);
		active.postMessage({keep: addresses}, [port2]);
	});
}

const loaded = () => [location.href,
	...performance.getEntriesByType('resource').map(x => x.name)];

// What the worker refuses to keep, and why.
function tell(trouble) {
	document.querySelector('.trouble')?.remove();
	document.querySelector('main').prepend(
		element('p', {className: 'note trouble', role: 'alert'}, trouble));
}

// more: what the page has not loaded yet.
export async function keepOffline(top, more) {
	if (!possible())
		return;
	navigator.serviceWorker.addEventListener('message', ({data}) => tell(data.trouble));
	await navigator.serviceWorker.register(new URL('service_worker.js', top));
	await keep([...loaded(), ...more]);
}

export function keepLab(top, chapter) {
	if (!possible())
		return Promise.resolve(false);
	const own = [`lab/${chapter}.json`, `lab/${chapter}.tar.gz`];
	return keep([...loaded(), ...[...LAB, ...own].map(x => new URL(`web/${x}`, top).href)]);
}
