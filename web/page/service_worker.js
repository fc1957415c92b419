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

self.addEventListener('fetch', event => {
	const url = new URL(event.request.url), hash = FILES[placeOf(url)];
	if (event.request.method !== 'GET' || url.origin !== location.origin || !hash)
		return;
	event.respondWith((async () => {
		const cache = await caches.open(CACHE);
		const key = `${url.origin}${url.pathname}?hash=${hash}`;
		const kept = await cache.match(key);
		if (kept)
			return kept;
		const response = await fetch(event.request);
		if (response.ok && response.status === 200)
			await cache.put(key, response.clone());
		return response;
	})());
});
