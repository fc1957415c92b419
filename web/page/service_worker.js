// Keeps what was once loaded for the next time, and for when there is no network.
// The builder puts the list of all files in, with the SHA-256 of each.
const FILES = /* FILES */ {};
const CACHE = 'rdma-by-example';

const placeOf = url => {
	const scope = new URL(self.registration.scope);
	const path = url.pathname.slice(scope.pathname.length);
	return path === '' || path.endsWith('/') ? `${path}index.html` : path;
};

self.addEventListener('install', () => self.skipWaiting());

// What has changed since or is no more is forgotten.
self.addEventListener('activate', event => event.waitUntil((async () => {
	const cache = await caches.open(CACHE);
	for (const request of await cache.keys()) {
		const url = new URL(request.url);
		if (url.searchParams.get('hash') !== FILES[placeOf(url)])
			await cache.delete(request);
	}
	await self.clients.claim();
})()));

async function differs(response, hash) {
	if (response.status !== 200)
		return false;
	const sum = await crypto.subtle.digest('SHA-256', await response.clone().arrayBuffer());
	return hash !== [...new Uint8Array(sum)].map(x => x.toString(16).padStart(2, '0')).join('');
}

// Mostly, the pages were published anew since this worker came: then there is a new
// one, which knows the new files.
async function tell(url) {
	const trouble = `${url.pathname} on the server is not the file that these pages were ` +
		'published with, so it is not kept. They were probably published anew: reload this page.';
	console.error(trouble);
	for (const client of await self.clients.matchAll())
		client.postMessage({trouble});
	self.registration.update().catch(() => {});
}

// From what was kept, or else from the server, and then kept: {response, kept}. A file
// is kept only if it has the hash that its name in the cache says, since nobody looks
// at what is kept again.
async function answer(request) {
	const url = new URL(request.url), hash = FILES[placeOf(url)];
	const cache = await caches.open(CACHE);
	const key = `${url.origin}${url.pathname}?hash=${hash}`;
	const before = await cache.match(key);
	if (before)
		return {response: before, kept: true};
	let response = await fetch(request);
	// The browser itself may have kept the file as it was some minutes ago.
	if (await differs(response, hash))
		response = await fetch(url.href, {cache: 'reload'});
	if (await differs(response, hash)) {
		await tell(url);
		// A text can be read all the same. A script that belongs to other scripts
		// than those that are kept would do nobody knows what.
		return {response: request.mode === 'navigate' ? response : Response.error(), kept: false};
	}
	if (response.status === 200)
		await cache.put(key, response.clone());
	return {response, kept: response.status === 200};
}

const isOurs = url => url.origin === location.origin && FILES[placeOf(url)];

self.addEventListener('fetch', event => {
	if (event.request.method === 'GET' && isOurs(new URL(event.request.url)))
		event.respondWith(answer(event.request).then(x => x.response));
});

// A page names what it loaded before there was this worker, or what it will need
// without a network: addresses, answered when all of them are kept.
self.addEventListener('message', event => event.waitUntil((async () => {
	const wanted = event.data.keep.map(x => new URL(x)).filter(isOurs);
	const done = await Promise.allSettled(wanted.map(url =>
		answer(new Request(url.origin + url.pathname))));
	event.ports[0].postMessage(done.every(x => x.value?.kept));
})()));
