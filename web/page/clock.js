// The time of one emulated machine, which can stand still. v86 reads it from
// performance.now(); a machine that was stopped for a minute must not find that a
// minute has gone, or each of its timers would run out at once.
export class Clock {
	// real: () => milliseconds
	constructor(real) {
		this.real = real;
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

	// From here on it goes on from that time.
	set(time) {
		this.limit = Infinity;
		this.lost += this.now() - time;
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
