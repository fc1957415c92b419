// The wire between the two nodes: what one sends, the other gets; later, twice,
// in another order or not at all, as the reader wants it.
//
// It knows no emulator and no page: who uses it gives it a function that delivers
// a frame, and the timers and random numbers that it takes.

const QUIET = {loss: 0, delay: 0, duplicate: 0, reorder: 0, cut: false, hold: false};
// A frame that is overtaken waits so many milliseconds longer than the others.
const REORDER_MS = 20;

export class Wire {
	// deliver(to, frame, record); onFrame(record) for each frame that comes in or whose
	// fate changes; onHold(holding) when frames begin or cease to wait.
	constructor({deliver, onFrame = () => {}, onHold = () => {},
		now = () => performance.now(), random = Math.random,
		later = (f, ms) => setTimeout(f, ms)}) {
		Object.assign(this, {deliver, onFrame, onHold, now, random, later});
		this.settings = {...QUIET};
		this.records = [];
		this.waiting = [];
		this.unlucky = null;
	}

	// Loses the next frame for which chosen(bytes) is true, and no other.
	loseOnce(chosen) {
		this.unlucky = chosen;
	}

	// {loss, duplicate, reorder}: 0 to 1; delay: milliseconds; cut, hold: yes or no.
	set(settings) {
		for (const [name, value] of Object.entries(settings)) {
			if (!(name in QUIET))
				throw new RangeError(`the wire has no ${name}; it has ` +
					Object.keys(QUIET).join(', '));
			if (typeof value !== typeof QUIET[name] || Number.isNaN(value) ||
			    value < 0 || (typeof value === 'number' && value > 1 &&
				name !== 'delay'))
				throw new RangeError(`${name}: ${value} is no value for it`);
		}
		const held = this.settings.hold;
		Object.assign(this.settings, settings);
		if (held && !this.settings.hold)
			this.release();
	}

	// A node has sent a frame.
	send(from, bytes) {
		const record = {number: this.records.length, time: this.now(), from,
			to: from === 'a' ? 'b' : 'a', bytes, fate: 'waits'};

		this.records.push(record);
		if (this.settings.hold && isRdmaOrTcp(bytes)) {
			this.waiting.push(record);
			this.onFrame(record);
			if (this.waiting.length === 1)
				this.onHold(true);
			return record;
		}
		this.pass(record);
		return record;
	}

	// What somebody at the wire sends, in the name of a node.
	insert(from, bytes) {
		const record = {number: this.records.length, time: this.now(), from,
			to: from === 'a' ? 'b' : 'a', bytes, fate: 'crosses', forged: true};

		this.records.push(record);
		this.onFrame(record);
		record.fate = 'arrived';
		record.arrived = this.now();
		this.onFrame(record);
		this.deliver(record.to, record.bytes, record);
	}

	// What the wire does with a frame that it does not hold.
	pass(record) {
		const {bytes} = record;
		const {loss, delay, duplicate, reorder, cut} = this.settings;
		let copies = 1;

		const unlucky = Boolean(this.unlucky?.(bytes));
		if (unlucky)
			this.unlucky = null;
		if (cut || unlucky || this.random() < loss) {
			record.fate = cut ? 'cut' : 'lost';
			this.onFrame(record);
			return;
		}
		if (duplicate && this.random() < duplicate) {
			record.twice = true;
			copies = 2;
		}
		let wait = delay;
		if (reorder && this.random() < reorder) {
			record.late = true;
			wait += REORDER_MS;
		}
		record.fate = 'crosses';
		this.onFrame(record);
		for (let copy = 0; copy < copies; copy++) {
			if (wait > 0)
				this.later(() => this.arrive(record), wait);
			else
				this.arrive(record);
		}
	}

	arrive(record) {
		record.fate = 'arrived';
		record.arrived = this.now();
		this.onFrame(record);
		this.deliver(record.to, record.bytes, record);
	}

	// Lets the first frame go that waits: 'pass' or 'drop' it.
	step(what = 'pass') {
		const record = this.waiting.shift();

		if (!record)
			return null;
		if (what === 'drop') {
			record.fate = 'lost';
			this.onFrame(record);
		} else {
			this.arrive(record);
		}
		if (this.waiting.length === 0)
			this.onHold(false);
		return record;
	}

	release() {
		while (this.waiting.length)
			this.step();
	}

	clear() {
		this.records = [];
	}
}

// ARP and the like are not worth a click.
function isRdmaOrTcp(bytes) {
	const type = bytes[12] << 8 | bytes[13];

	return type === 0x0800 && (bytes[23] === 17 || bytes[23] === 6) ||
		type === 0x86dd && (bytes[20] === 17 || bytes[20] === 6);
}
