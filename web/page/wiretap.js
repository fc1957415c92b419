// One run of a chapter with a third party at the wire, as scripts/wiretap.sh does it.
import {NUMBERS, PREDICTED, thirdParty} from './third_party.js';
import {runPrograms} from './runs.js';

export const LINKS = {
	open: 'it reads a WRITE and sends one of its own',
	nothing: 'what it sends is a WRITE of no bytes, without an rkey',
	badkey: 'what it sends has a wrong rkey',
	told: 'it reads nothing, and is told the numbers',
	macsec: 'RoCE on MACsec: it can read nothing, and is told the numbers',
	data: 'it answers the client’s READ, with bytes of its own',
	ack: 'it drops the client’s SEND, and acknowledges it',
	nak: 'it refuses the client’s SEND, which arrives',
	rst: 'it resets the TCP connection of the exchange',
	sweep: 'it has read nothing, and tries 256 PSNs; the client has the last of them',
	'sweep random': 'the same, and the client has a random PSN',
	dreq: 'it says the CM’s goodbye in the client’s name',
};
for (const name of ['data', 'ack', 'nak', 'rst', 'dreq'])
	LINKS[`${name} macsec`] = 'the same on MACsec, where it can read nothing';

// Which of them a chapter has: 02 is connected by the CM.
export const linksOf = chapter => Object.keys(LINKS).filter(link => link.startsWith('dreq') ?
	chapter.startsWith('02') : /^0[34]/.test(chapter));

const runOf = (mode, rest = '') => ({nodes: 2, setup: [], programs: [
	{label: 'server', command: `./server -1 ${mode}`, waits: true},
	{label: 'client', command: `./client -a 192.0.2.1 ${mode}${rest}`, waits: true}]});

async function must(node, command) {
	const {status, out} = await node.exec(command);
	if (status)
		throw new Error(`node ${node.name}: ${out}`);
	return out;
}

const hexDigits = size => [...crypto.getRandomValues(new Uint8Array(size))]
	.map(x => x.toString(16).padStart(2, '0')).join('');
const rxe = device => `rdma link delete rxe0; rdma link add rxe0 type rxe netdev ${device}`;

// What crosses the wire is encrypted, with two keys of this run.
function encrypt({a, b}) {
	const keys = [hexDigits(16), hexDigits(16)];
	return Promise.all([a, b].map((node, i) => must(node, [
		`/sbin/ip addr del 192.0.2.${i + 1}/24 dev eth0`,
		'/sbin/ip link add link eth0 macsec0 type macsec encrypt on replay on window 0',
		`/sbin/ip macsec add macsec0 tx sa 0 pn 1 on key 01 ${keys[i]}`,
		`/sbin/ip macsec add macsec0 rx port 1 address 02:00:00:00:02:0${2 - i}`,
		`/sbin/ip macsec add macsec0 rx port 1 address 02:00:00:00:02:0${2 - i} sa 0 pn 1 on key 02 ${keys[1 - i]}`,
		`/sbin/ip addr add 192.0.2.${i + 1}/24 dev macsec0`, '/sbin/ip link set macsec0 up',
		rxe('macsec0')].join(' && '))));
}

function mend({a, b}) {
	return Promise.all([a, b].map((node, i) => must(node,
		`/sbin/ip link delete macsec0; /sbin/ip addr add 192.0.2.${i + 1}/24 dev eth0; ` +
		`/sbin/ip neigh replace 192.0.2.${2 - i} lladdr 02:00:00:00:02:0${2 - i} dev eth0; ${rxe('eth0')}`)));
}

// How many packets node a has taken for ones that it had before.
async function duplicates({a}) {
	return Number(/duplicate_request (\d+)/.exec(await must(a, 'rdma statistic show link rxe0'))?.[1]);
}

// The chapter on both nodes, built with these patches of the lab's.
async function prepare(lab, folder, patches) {
	const texts = await Promise.all(patches.map(x => lab.get(`${x}.patch`, 'text')));
	await lab.both(async node => {
		await must(node, `rm -rf ${folder} && mkdir -p ${folder} && cp -a /root/${lab.chapter}/. ${folder}`);
		if (!texts.length)
			return;
		await node.write('/tmp/wiretap.patch', texts.join(''));
		await must(node, `cd ${folder} && /usr/bin/patch -f -s -p1 -d "$(dirname "$(find . -name server.c)")" ` +
			'</tmp/wiretap.patch && build');
	});
	await lab.certify(folder);
}

// The client waits, connected, until the third party has sent all that it sends.
async function runIdle(lab, link, folder) {
	const {b} = lab.nodes, go = '/tmp/wiretap.go';
	const hear = ({detail: {label, text}}) => {
		if (label === 'client' && text.startsWith('both sides'))
			b.exec(`echo >${go}`);
	};
	await must(b, `rm -f ${go}; mkfifo ${go}`);
	lab.addEventListener('said', hear);
	try {
		const psn = link.endsWith('random') ? '' : ` -P 0x${(PREDICTED + NUMBERS - 1).toString(16)}`;
		return await runPrograms(lab.nodes, runOf('write', `${psn} <>${go}`), folder);
	} finally {
		lab.removeEventListener('said', hear);
	}
}

// {forged, memory, send, delivered, duplicates, logs}: a line of that table. memory is
// the server's, or what a client that reads has got.
export async function wiretap(lab, link) {
	const folder = `/root/wiretap/${lab.chapter}`, {nodes} = lab, links = linksOf(lab.chapter);
	if (!links.includes(link))
		throw new RangeError(`no ${link}; there is ${links.join(', ')}`);
	const reads = link.startsWith('data'), encrypted = link.endsWith('macsec'), sweeps = link.startsWith('sweep');
	await prepare(lab, folder, [...link.startsWith('dreq') ? [] : ['show_memory'], ...sweeps ? ['idle'] : []]);
	lab.clear();
	if (encrypted)
		await encrypt(nodes);
	const before = await duplicates(nodes);
	const third = lab.third = thirdParty(link);
	try {
		const logs = sweeps ? await runIdle(lab, link, folder) :
			await runPrograms(nodes, runOf(reads ? 'read' : 'write'), folder);
		const [log, name] = reads ? ['client.log', 'remote buffer'] : ['server.log', 'lent memory'];
		return {forged: third.sent, logs,
			memory: new RegExp(`^${name}: (.*)$`, 'm').exec(logs[log])?.[1] ?? '',
			send: logs['client.log'].includes('Both DONE') ? 'success' : 'failed',
			delivered: logs['server.log'].includes('Both DONE'),
			duplicates: await duplicates(nodes) - before};
	} finally {
		lab.third = null;
		if (encrypted)
			await mend(nodes);
	}
}
