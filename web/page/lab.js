// The lab: two nodes, the wire between them, and what can be done with a chapter on
// them. It has no look; lab_page.js gives it one, and window.lab is for teachers
// and tests (web/README.md documents it).
import {Node, copyFiles} from './node.js';
import {unpack} from './checker.js';
import {Comparer} from './comparer.js';
import {Picture} from './picture.js';
import {Wire} from './wire.js';
import {dissect} from './packet.js';
import {Words, worthShowing} from './words.js';
import {Rules} from './compare/tokens.js';
import {compare} from './compare/compare.js';
import {runPrograms} from './runs.js';
import {edits} from './store.js';
import {wiretap} from './wiretap.js';
import {writePcapng} from './pcapng.js';

const SETTLE_MS = 250;

export class Lab extends EventTarget {
	// Events: `entry` and `change` (of the ladder), `wire` (its
	// settings), `hold`, `said`, `trouble`.
	constructor(top, chapter) {
		super();
		Object.assign(this, {top, chapter, entries: [], entryOf: new Map(),
			words: new Words(), frozen: false});
		this.nodes = {};
		for (const name of ['a', 'b'])
			this.nodes[name] = this.makeNode(name);
		for (const [name, other] of [['a', 'b'], ['b', 'a']])
			this.nodes[name].addEventListener('time', ({detail}) =>
				this.nodes[other].limit(detail));
		this.link = new Wire({
			deliver: (to, bytes, record) => this.deliver(to, bytes, record),
			onFrame: record => this.frame(record),
			onHold: holding => this.hold(holding)});
		this.loaded = new Set();
		this.certified = null;
	}

	emit(type, detail) {
		this.dispatchEvent(new CustomEvent(type, {detail}));
	}

	makeNode(name) {
		const worker = new Worker(new URL('./node_worker.js', import.meta.url),
			{type: 'module', name: `node ${name}`});
		const node = new Node(name, worker);
		node.addEventListener('frame', ({detail}) => this.link.send(name, detail));
		node.addEventListener('said', ({detail}) => this.said(detail));
		const comparer = new Comparer(() => this, text => node.serial(2, text));
		node.addEventListener('asked', ({detail}) => comparer.hear(detail.text));
		node.addEventListener('trouble', ({detail}) => this.emit('trouble', detail));
		return node;
	}

	async get(path, what = 'json') {
		const response = await fetch(new URL(`web/lab/${path}`, this.top));
		if (!response.ok)
			throw new Error(`${path}: ${response.status} ${response.statusText}`);
		return response[what]();
	}

	async start() {
		this.described = this.describe();
		const {a, b} = this.nodes, picture = new Picture(new URL('web/lab/state.zst', this.top));
		const {time, machine} = await this.get('state.json');
		await Promise.all([picture.open(), a.create(time), b.create(time)]);
		await picture.bring([a, b], machine);
		await Promise.all([a.start(1), b.start(2)]);
		await this.described;
		await this.bring(this.chapter);
		document.addEventListener('visibilitychange', () => this.visible());
	}

	async describe() {
		const [rules, data] = await Promise.all([
			this.get('rules.json'), this.get(`${this.chapter}.json`)]);
		this.rules = new Rules(rules);
		this.data = data;
	}

	// To another chapter, whose page this is not.
	async change(chapter) {
		this.data = await this.get(`${chapter}.json`);
		this.chapter = chapter;
		await this.bring(chapter);
	}

	both(what) {
		return Promise.all(Object.values(this.nodes).map(what));
	}

	// The chapter's folder on both nodes, built.
	async bring(chapter) {
		if (this.loaded.has(chapter))
			return;
		const archive = await this.archive(chapter);
		await this.both(node => unpack(node, chapter, archive, '/root'));
		this.loaded.add(chapter);
	}

	async archive(name) {
		return new Uint8Array(await this.get(`${name}.tar.gz`, 'arrayBuffer'));
	}

	// Keys are made on the node, and only for this visit; the other node gets the same.
	async certify(folder) {
		const {status} = await this.nodes.a.exec(`test -e ${folder}/certs.sh`);
		if (status)
			return;
		this.certified ??= (async () => {
			const {status, out} = await this.nodes.a.exec(
				`cd ${folder} && bash certs.sh /tmp/certs >/dev/null`);
			if (status)
				throw new Error(`certificates: ${out}`);
			await copyFiles(this.nodes.a, this.nodes.b, '/tmp', 'certs');
		})();
		await this.certified;
		await this.both(node => node.exec(`rm -rf ${folder}/certs && cp -r /tmp/certs ${folder}/certs`));
	}

	// A third party at the wire, if there is one, may drop it, and send something behind it.
	deliver(to, bytes, record) {
		const third = record.forged ? null : this.third;
		const {drops, toServer, toClient} = (to === 'a' ? third?.client(bytes) : third?.server(bytes)) ?? {};
		if (drops) {
			record.fate = 'lost';
			this.frame(record);
		} else {
			this.nodes[to].deliver(bytes);
		}
		this.forge('b', toServer);
		this.forge('a', toClient);
	}

	// from: in whose name; what: a frame, several, or nothing.
	forge(from, what) {
		for (const frame of [what ?? []].flat())
			this.link.insert(from, frame.slice());
	}

	// One run with a third party at the wire: a line of the table of wiretap.sh.
	wiretap(link) {
		return wiretap(this, link);
	}

	frame(record) {
		if (this.entryOf.has(record)) {
			const known = this.entryOf.get(record);
			if (known)
				this.emit('change', known);
			return;
		}
		const packet = this.words.say(dissect(record.bytes));
		const entry = worthShowing(packet) &&
			{type: 'packet', record, packet, time: record.time};
		this.entryOf.set(record, entry);
		if (!entry)
			return;
		this.entries.push(entry);
		this.emit('entry', entry);
	}

	said(line) {
		if (line.label === 'client' && line.kind === 'o')
			this.forge('b', this.third?.hear(line.text));
		if (line.kind !== 'x') {
			const entry = {type: 'line', ...line, time: performance.now()};
			this.entries.push(entry);
			this.emit('entry', entry);
		}
		this.emit('said', line);
	}

	clear() {
		this.entries = [];
		this.entryOf = new Map();
		this.words = new Words();
		this.link.clear();
		this.emit('clear');
	}

	// Sets what the wire does, and returns all that it does.
	wire(settings = {}) {
		this.link.set(settings);
		this.emit('wire', this.link.settings);
		return {...this.link.settings};
	}

	// While a packet waits, no time passes on the nodes.
	hold(holding) {
		this.held = holding;
		this.freeze();
		this.emit('hold', holding);
	}

	visible() {
		this.hidden = document.hidden;
		this.freeze();
	}

	freeze() {
		const freeze = Boolean(this.held || this.hidden);
		if (freeze === this.frozen)
			return;
		this.frozen = freeze;
		this.both(node => freeze ? node.freeze() : node.thaw());
	}

	// Runs a logged run as it was recorded: {matches, differences, logs}.
	async run(name, {folder = `/root/${this.chapter}`, from = this.data.runs} = {}) {
		const run = from[name ?? Object.keys(from)[0]];
		if (!run)
			throw new RangeError(`${this.chapter} has no ${name}; it has ${Object.keys(from).join(', ')}`);
		await this.certify(folder);
		this.clear();
		const logs = await runPrograms(this.nodes, run, folder);
		// The last packets may still be on their way to the page.
		await new Promise(resolve => setTimeout(resolve, SETTLE_MS));
		return {...compare(this.rules, logs, run.expected), logs, run};
	}

	// Breaks a copy of the chapter, as `make break` does, and runs that.
	async break(name) {
		const broken = this.data.cases[name], folder = `/root/break/${this.chapter}/${name}`;
		if (!broken)
			throw new RangeError(`${this.chapter} has no case ${name}; it has ${Object.keys(this.data.cases).join(', ')}`);
		await this.both(async node => {
			let {status, out} = await node.exec(`rm -rf ${folder} && mkdir -p ${
				folder.replace(/\/[^/]*$/, '')} && cp -a /root/${this.chapter} ${folder}`);
			if (!status && broken.patch) {
				await node.write(`${folder}/case.patch`, broken.patch);
				({status, out} = await node.exec(`cd ${folder} && /usr/bin/patch -f -s -p1 <case.patch && build`));
			}
			const changed = Object.keys(edits(this.chapter));
			if (status)
				throw new Error(`node ${node.name}: ${name} could not be built: ${out}${changed.length ?
					`You have changed ${changed.join(', ')} in Files; Reset there brings the chapter's back.` : ''}`);
		});
		return this.run(name, {folder, from: this.data.cases});
	}

	// Compiles the chapter's folder: {status, out, errors: [{file, line, text}]}.
	async build(node, folder = `/root/${this.chapter}`) {
		const {status, out} = await this.nodes[node].exec(`cd ${folder} && build`);
		const errors = [...out.matchAll(/^(?:In file included from [^\n]*\n)*([^\s:]+):(\d+): (.*)$/gm)]
			.map(([, file, line, text]) => ({file, line: Number(line), text}));
		return {status, out, errors};
	}

	// One file of the chapter on both nodes.
	write(file, text, folder = `/root/${this.chapter}`) {
		return this.both(node => node.write(`${folder}/${file}`, text));
	}

	// What `rdma` says of the queue pairs of the programs on a node.
	async queuePairs(node) {
		const {out} = await this.nodes[node].exec('rdma resource show qp');
		return out.split('\n').filter(line => line.includes(' type RC ')).map(line =>
			Object.fromEntries([...line.matchAll(/(\S+) (\S+)/g)].map(([, key, value]) => [key, value])));
	}

	packets() {
		return this.entries.filter(x => x.type === 'packet').map(({record, packet}) => ({
			from: record.from, fate: record.fate, kind: packet.kind, text: packet.text,
			label: packet.label, mark: packet.mark, psn: packet.psn, qpn: packet.destqp}));
	}

	// All frames that were sent, as a capture.
	capture() {
		const began = Date.now() - performance.now();
		return writePcapng(this.link.records.map(({time, bytes}) =>
			({time: began + time, bytes})));
	}
}
