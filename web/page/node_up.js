// What makes a node one of the two: its clock, random numbers, address, Soft-RoCE,
// and a shell on its terminal. Both start from one picture of the memory; the seed,
// which the page draws, makes their random numbers, and so PSNs and keys, differ.
const mac = number => `02:00:00:00:02:0${number}`;

export function nodeUp(number, seconds, seed) {
	const name = ' ab'[number], other = 3 - number;
	// Scripts are written for a system where env is in /usr/bin.
	return `ln -sf /bin/env /usr/bin/env; date -s @${seconds} >/dev/null && stir ${seed} && hostname ${name} && ` +
		`printf '127.0.0.1 localhost\\n192.0.2.1 a node-a\\n192.0.2.2 b node-b\\n' >/etc/hosts && ` +
		`printf 'link set eth0 address ${mac(number)}\\n` +
		`addr add 192.0.2.${number}/24 dev eth0\\nlink set eth0 up\\n` +
		`neigh replace 192.0.2.${other} lladdr ${mac(other)} dev eth0\\n' | /sbin/ip -batch - && ` +
		'rdma link add rxe0 type rxe netdev eth0 && cd /root && ' +
		`{ setsid sh -c 'exec cttyhack bash -i </dev/ttyS0 >/dev/ttyS0 2>&1' & }`;
}
