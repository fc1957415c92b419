// The time of one emulated machine, which can stand still. v86 reads it from
// performance.now(); a machine that was stopped for a minute must not find that a
// minute has gone, or each of its timers would run out at once.

// How far it goes on each time it is read at its limit: see tick().
const STEP_MS = 0.6;

export class Clock {
	// real: () => milliseconds; reached(): it was read at its limit.
	constructor(real, reached = () => {}) {
		Object.assign(this, {real, reached});
		this.lost = 0;
		this.stopped = null;
		// It goes no further than this; what is cut off does not come later.
		this.limit = Infinity;
	}

	now() {
		const time = (this.stopped ?? this.real()) - this.lost;

		if (time <= this.limit)
			return time;
		this.lost += time - this.limit;
		return this.limit;
	}

	// What the machine reads. It runs until a millisecond has gone, and hears
	// nothing meanwhile; so at the limit that millisecond must go, too, or it would
	// run for ever and never hear of another limit. Who is told stops it.
	tick() {
		const time = this.now();

		if (time >= this.limit && this.stopped === null) {
			this.limit += STEP_MS;
			this.reached();
		}
		return time;
	}

	// A later limit; an earlier one would turn the clock back.
	raise(limit) {
		this.limit = Math.max(this.limit, limit);
	}

	// From here on it goes on from that time, to that limit.
	set(time, limit = Infinity) {
		this.limit = Infinity;
		this.lost += this.now() - time;
		this.limit = limit;
	}

	stop() {
		this.stopped ??= this.real();
	}

	go() {
		if (this.stopped === null)
			return;
		this.lost += this.real() - this.stopped;
		this.stopped = null;
	}
}
