// The pages' Content-Security-Policy: what a page may load and run, so that text that
// comes to be taken for HTML by mistake loads and runs nothing.
//
// A page says it in a <meta>, since a server of static files sends no such header.
// What it cannot say there, and the policies of workers and pictures, only a server can:
// web/serve.mjs sends all of them.

const join = policy => Object.entries(policy).map(([name, sources]) =>
	`${name} ${sources.join(' ')}`).join('; ');

const PAGE = {
	// What is not named below.
	'default-src': ["'none'"],
	// web/page and web/libraries; nothing inline, no eval. WebAssembly is compiled
	// in the lab's workers only, so no page may.
	'script-src': ["'self'"],
	'style-src': ["'self'"],
	// data: is the empty icon, which saves asking for favicon.ico.
	'img-src': ["'self'", 'data:'],
	// The search's index, the lab's files.
	'connect-src': ["'self'"],
	// The service worker, and the lab's threads. What is downloaded is a blob, which
	// needs no source.
	'worker-src': ["'self'"],
	// There is no <base>, and the form of the search is sent nowhere.
	'base-uri': ["'none'"],
	'form-action': ["'none'"],
};

// xterm and CodeMirror, in the lab, write style sheets as they go, and so does the
// drawing of a Mermaid picture, which is on the same pages.
const LAB = {...PAGE, 'style-src': ["'self'", "'unsafe-inline'"]};

export const policyOf = page => join(page.chapter || page.door ? LAB : PAGE);

export const policyTag = page =>
	`<meta http-equiv="Content-Security-Policy" content="${policyOf(page)}">`;

// A worker has what its own file is sent with, and nothing of the page's <meta>.
const SCRIPT = {'default-src': ["'none'"], 'script-src': ["'self'"], 'connect-src': ["'self'"]};
// These two compile v86: node_worker.js runs it, unpack_worker.js takes zstd out of it.
// v86 makes more WebAssembly of the guest's code all the time, and keeps its time by
// a worker of its own, which is a blob and may do no more than its maker. Firefox takes
// what a worker imports for workers, too.
const EMULATOR = {...SCRIPT, 'script-src': ["'self'", "'wasm-unsafe-eval'"], 'worker-src': ["'self'", 'blob:']};
const UNPACKER = {...SCRIPT, 'script-src': ["'self'", "'wasm-unsafe-eval'"]};
const WORKERS = new Map([['web/page/node_worker.js', EMULATOR],
	['web/page/unpack_worker.js', UNPACKER]]);
// A picture that is opened by itself: its style is in it, and no script.
const PICTURE = {'default-src': ["'none'"], 'style-src': ["'unsafe-inline'"], 'sandbox': []};

// The header for a file of the site; '' for what needs none.
export function headerOf(place, text) {
	if (place.endsWith('.html')) {
		const [, said] = /<meta http-equiv="Content-Security-Policy" content="([^"]*)">/.exec(text) ?? [];
		// Only a header may say who may put the page into a frame.
		return `${said ?? join(PAGE)}; frame-ancestors 'none'`;
	}
	if (place.endsWith('.js'))
		return join(WORKERS.get(place) ?? SCRIPT);
	return place.endsWith('.svg') ? join(PICTURE) : '';
}
