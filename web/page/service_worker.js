// Keeps what was once loaded for the next time, and for when there is no network.
// The builder puts the list of all files with their hashes in.
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

// From what was kept, or else from the server, and then kept.
async function answer(request) {
	const url = new URL(request.url), hash = FILES[placeOf(url)];
	const cache = await caches.open(CACHE);
	const key = `${url.origin}${url.pathname}?hash=${hash}`;
	const kept = await cache.match(key);
	if (kept)
		return kept;
	const response = await fetch(request);
	if (response.ok && response.status === 200)
		await cache.put(key, response.clone());
	return response;
}

const isOurs = url => url.origin === location.origin && FILES[placeOf(url)];

self.addEventListener('fetch', event => {
	if (event.request.method === 'GET' && isOurs(new URL(event.request.url)))
		event.respondWith(answer(event.request));
});

// A page names what it loaded before there was this worker, or what it will need
// without a network: addresses, answered when all of them are kept.
self.addEventListener('message', event => event.waitUntil((async () => {
	const wanted = event.data.keep.map(x => new URL(x)).filter(isOurs);
	const done = await Promise.allSettled(wanted.map(url =>
		answer(new Request(url.origin + url.pathname))));
	event.ports[0].postMessage(done.every(x => x.status === 'fulfilled'));
})()));
