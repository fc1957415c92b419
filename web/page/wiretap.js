// One run of a chapter with a third party at the wire, as `make wiretap` does it.
import {ThirdParty} from './third_party.js';
import {runPrograms} from './runs.js';

export const LINKS = {
	open: 'it reads a WRITE and sends one of its own',
	nothing: 'what it sends is a WRITE of no bytes, without an rkey',
	badkey: 'what it sends has a wrong rkey',
	told: 'it reads nothing, and is told the numbers',
	macsec: 'RoCE on MACsec: it can read nothing, and is told the numbers',
};

const RUN = {nodes: 2, setup: [], programs: [
	{label: 'server', command: './server -1 write', waits: true},
	{label: 'client', command: './client -a 192.0.2.1 write', waits: true}]};

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

async function prepare(lab, folder) {
	await lab.both(async node => {
		await node.write('/tmp/show_memory.patch', lab.showMemory);
		await must(node, `rm -rf ${folder} && mkdir -p ${folder} && cp -a /root/${lab.chapter}/. ${
			folder} && cd ${folder} && /usr/bin/patch -s -p1 -d "$(dirname "$(find . -name server.c)")" </tmp/show_memory.patch && build`);
	});
	await lab.certify(folder);
}

// {forged, memory, send, delivered, duplicates, logs}: a line of that table.
export async function wiretap(lab, link) {
	const folder = `/root/wiretap/${lab.chapter}`, {nodes} = lab;
	if (!(link in LINKS))
		throw new RangeError(`no ${link}; there is ${Object.keys(LINKS).join(', ')}`);
	await prepare(lab, folder);
	lab.clear();
	if (link === 'macsec')
		await encrypt(nodes);
	const before = await duplicates(nodes);
	const third = lab.third = new ThirdParty(link);
	try {
		const logs = await runPrograms(nodes, RUN, folder);
		return {forged: third.sent, logs,
			memory: /^lent memory: (.*)$/m.exec(logs['server.log'])?.[1] ?? '',
			send: logs['client.log'].includes('Both DONE') ? 'success' : 'failed',
			delivered: logs['server.log'].includes('Both DONE'),
			duplicates: await duplicates(nodes) - before};
	} finally {
		lab.third = null;
		if (link === 'macsec')
			await mend(nodes);
	}
}
