// The network card of an emulated machine: an ne2000, with a ring of 13 KB for what
// it receives. What finds no room there v86 loses, as the real card did; a page full
// of packets comes faster than any wire could bring it. So a frame waits here until
// the machine has taken enough out of the ring: what is lost, the reader has lost.
const RECHECK_MS = 1;

// Whether so many bytes fit between what was received last and what was taken out
// last; one page more stays free, or a full ring would look empty.
export function hasRoom({pstart, pstop, curpg, boundary}, size) {
	const pages = 1 + (Math.max(60, size) + 4 >> 8);
	const free = boundary > curpg ? boundary - curpg :
		pstop - curpg + boundary - pstart;
	return free > pages + 1;
}

// Whether the machine has taken all that was received.
export const isEmpty = ({pstart, pstop, curpg, boundary}) =>
	(boundary + 1 === pstop ? pstart : boundary + 1) === curpg;

// The card's interrupt for what it has received: a bit of its interrupt status.
export const RECEIVED = 1;

export class Card {
	// ring(): the card's registers; give(frame); interrupt(): what was received is to
	// be taken; later(f, ms).
	constructor(ring, give, interrupt, later = (f, ms) => setTimeout(f, ms)) {
		Object.assign(this, {ring, give, interrupt, later, waiting: [], due: false});
	}

	receive(frame) {
		this.waiting.push(frame);
		this.pass();
	}

	// At an interrupt, Linux takes nine packets at most and then clears it, whatever is
	// left. On a busy network the next packet interrupts again. Here none may follow,
	// and the last of many would lie in the ring for ever.
	pass() {
		while (this.waiting.length && hasRoom(this.ring(), this.waiting[0].length))
			this.give(this.waiting.shift());
		const taken = isEmpty(this.ring());
		if (!taken && !(this.ring().isr & RECEIVED))
			this.interrupt();
		if ((this.waiting.length || !taken) && !this.due) {
			this.due = true;
			this.later(() => {
				this.due = false;
				this.pass();
			}, RECHECK_MS);
		}
	}
}
