// packets.mjs - what the packets of a capture say, in the words of the specification
//
// usage: node scripts/lib/wire/packets.mjs CAPTURE
//
// Prints a line of JSON for each packet of RoCE v2 or TCP, oldest first, for ladder.py and
// for tests. What decodes them is what the pages use, web/page: a test compares that with
// tshark.
import {readFileSync} from 'node:fs';
import {framesOf} from '../../../web/page/capture.js';
import {dissect, hex} from '../../../web/page/packet.js';
import {Words} from '../../../web/page/words.js';

const shown = x => x === undefined ? null : hex(x);

function main(path) {
	const words = new Words();
	try {
		for (const {time, bytes} of framesOf(new Uint8Array(readFileSync(path)))) {
			const x = bytes && words.say(dissect(bytes, false));
			if (!x?.transport)
				continue;
			console.log(JSON.stringify({time: time / 1e3, src: x.src, dst: x.dst, kind: x.kind, mark: x.mark,
				psn: shown(x.psn), destqp: shown(x.destqp), va: shown(x.va), rkey: shown(x.rkey),
				dmalen: x.dmalen ?? null, start_psn: shown(x.startPsn), text: x.text,
				label: x.label + (x.mark === 'again' ? ' [retransmission]' : '')}));
		}
	} catch (error) {
		console.error(`packets: ${path}: ${error.message}`);
		return 1;
	}
	return 0;
}

process.exitCode = process.argv.length === 3 ? main(process.argv[2]) : 2;
