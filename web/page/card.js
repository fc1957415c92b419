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

export class Card {
	// ring(): the card's registers; give(frame); later(f, ms).
	constructor(ring, give, later = (f, ms) => setTimeout(f, ms)) {
		Object.assign(this, {ring, give, later, waiting: [], due: false});
	}

	receive(frame) {
		this.waiting.push(frame);
		this.pass();
	}

	pass() {
		while (this.waiting.length && hasRoom(this.ring(), this.waiting[0].length))
			this.give(this.waiting.shift());
		if (this.waiting.length && !this.due) {
			this.due = true;
			this.later(() => {
				this.due = false;
				this.pass();
			}, RECHECK_MS);
		}
	}
}
