// What a browser keeps, for tests without one.

export class Storage {
	constructor() { this.map = new Map(); }
	get length() { return this.map.size; }
	key(i) { return [...this.map.keys()][i]; }
	getItem(key) { return this.map.get(key) ?? null; }
	setItem(key, value) { this.map.set(key, value); }
	removeItem(key) { this.map.delete(key); }
}
