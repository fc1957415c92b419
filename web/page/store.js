// The reader's own versions of files, kept by the browser.
const keyOf = (chapter, file) => `edit:${chapter}/${file}`;

export function edits(chapter, storage = localStorage) {
	const found = {};
	for (let i = 0; i < storage.length; i++) {
		const key = storage.key(i);
		if (key.startsWith(keyOf(chapter, '')))
			found[key.slice(keyOf(chapter, '').length)] = storage.getItem(key);
	}
	return found;
}

// The same as the original is no edit.
export function keep(chapter, file, text, original, storage = localStorage) {
	if (text === original)
		storage.removeItem(keyOf(chapter, file));
	else
		storage.setItem(keyOf(chapter, file), text);
}

export function forget(chapter, storage = localStorage) {
	for (const file of Object.keys(edits(chapter, storage)))
		storage.removeItem(keyOf(chapter, file));
}
