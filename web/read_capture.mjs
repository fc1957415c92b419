// read_capture.mjs - the packets of a capture, and what happened, in a terminal
//
// usage: node web/read_capture.mjs FILE     (by scripts/wire.sh --read FILE)
//
// The same modules as the page "Open a capture". Exit status: 0 nothing went wrong that
// the wire shows; 1 something did, or the file could not be read; 2 usage.
import {readFileSync} from 'node:fs';
import {openCapture} from './page/open_capture.js';

const plain = text => text.replace(/[^ -~“”’]/g, '?');

function main(path) {
	let data;
	try {
		data = new Uint8Array(readFileSync(path));
	} catch (error) {
		console.error(`wire: ${path} cannot be read: ${error.message}`);
		return 1;
	}
	const {entries, count, packets, cut, trouble, found} = openCapture(data);
	for (const {time, packet} of entries)
		console.log(`${(time - entries[0].time).toFixed(3).padStart(12)} ms  ${plain(packet.src)} > ${
			plain(packet.dst)}  ${plain(packet.label)}${packet.mark === 'again' ? ' again' : ''}`);
	console.log(`\n${count} frames, ${packets} packets of RoCE v2 or TCP that tell something` +
		(packets > entries.length ? `; the first ${entries.length} are above` : ''));
	if (cut)
		console.log(`The capture has not kept all of ${cut} frames: give tcpdump -s 0.`);
	for (const {text, place, bad} of found)
		console.log(`${bad ? '!' : '-'} ${plain(text)}\n  ${place.replace('.html', '.md')}`);
	if (trouble)
		console.error(`wire: ${path}: only what stands before the fault was read: ${trouble}`);
	return Number(Boolean(trouble) || found.some(x => x.bad));
}

process.exitCode = process.argv.length === 3 ? main(process.argv[2]) : 2;
