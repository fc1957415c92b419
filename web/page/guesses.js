// What a reader has guessed of each case before it ran, and whether that was right; kept
// by the browser. Whether it was, is the reader's to say, and what was said first counts:
// after the story, it is no guess.
const PREFIX = 'guess:';
const keyOf = (chapter, name) => `${PREFIX}${chapter}/${name}`;

// {text, right: true, false or null}, or null.
export function guessOf(chapter, name, storage = localStorage) {
	try {
		const {text, right} = JSON.parse(storage.getItem(keyOf(chapter, name)));
		return typeof text === 'string' ? {text, right: typeof right === 'boolean' ? right : null} : null;
	} catch {
		return null;
	}
}

export function guess(chapter, name, text, storage = localStorage) {
	if (text.trim() && guessOf(chapter, name, storage)?.right == null)
		storage.setItem(keyOf(chapter, name), JSON.stringify({text: text.trim(), right: null}));
}

export function judge(chapter, name, right, storage = localStorage) {
	const known = guessOf(chapter, name, storage);
	if (known && known.right === null)
		storage.setItem(keyOf(chapter, name), JSON.stringify({...known, right}));
}

// {right, all}: of all cases of all chapters that have been judged.
export function score(storage = localStorage) {
	const all = Array.from({length: storage.length}, (_, i) => storage.key(i)).filter(x => x.startsWith(PREFIX))
		.map(x => guessOf(...x.slice(PREFIX.length).split('/'), storage)?.right).filter(x => typeof x === 'boolean');
	return {right: all.filter(Boolean).length, all: all.length};
}
