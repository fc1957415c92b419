// Which line of a chapter has sent a packet: the table is that of
// scripts/lib/wire/sources.py, which the site's builder passes on.

import {isHead} from './words.js';

// senders: [[kind, file, call]], regular expressions; files: {path: text}.
export function codeOf(packet, senders, files) {
	let what = packet.kind === 'TCP text' ? packet.text.replace('TCP ', 'TCP text ') : packet.kind;
	// Chapter 07: what belongs to a file.
	if (packet.payload && (isHead(packet.payload) || /WRITE.*with Immediate/.test(what)))
		what = `file ${what}`;
	for (const [kind, name, call] of senders) {
		if (!new RegExp(`^(?:${kind})`).test(what))
			continue;
		const path = Object.keys(files).find(x => x === name || x.endsWith(`/${name}`));
		const at = path === undefined ? -1 : files[path].search(new RegExp(call));
		if (at < 0)
			continue;
		const before = files[path].slice(0, at).split('\n');
		return {file: path, line: before.length,
			text: files[path].split('\n')[before.length - 1].trim()};
	}
	return null;
}
