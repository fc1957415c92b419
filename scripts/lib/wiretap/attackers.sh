# attackers.sh - what reach.sh has its third party do, and the capture of that; to be
# sourced after device.sh and wiretap/runs.sh
#
#   as_nobody WHAT            another user of node b attacks
#   sweep                     the third node tries each PSN
#   stand_between             the third node gets between the other two
#   begin_capture, end_capture
#                             OUT/wire.pcap has what was on the wire at a node
#
# The caller has set out, the folder of this run, attack, control, what is to stop it,
# and net, of which node a is number 1.
#
# shellcheck shell=bash

# as_nobody WHAT: another user of node b, in a box or not.
as_nobody() {
	local command=(/tmp/wiretap.d/lib/python.sh wiretap.neighbour 192.0.2.2
		192.0.2.1 "$1")

	if [[ $control == box ]]; then
		device_run b ip netns exec box setpriv --reuid nobody --regid nogroup \
			--clear-groups "${command[@]}"
	else
		scripts/lab.sh exec -u nobody b -- "${command[@]}"
	fi
	[[ $control != filter ]] || device_run b nft list table ip reach
}

# What the client's PSN is where it can be predicted: to 16 bits, by default.
predicted=$((0x5a0000)) numbers=${SWEEP:-65536}
sweep() {
	local qpn

	# The first one that rxe gives, and each one after it; here the one that is in use.
	qpn=$(device_run a rdma resource show qp | sed -n 's/.* lqpn \([0-9]*\) .*comm server.*/\1/p')
	device_run c scripts/lib/python.sh wiretap.sweep 192.0.2.2 192.0.2.1 "$qpn" \
		"$predicted" "$numbers"
}

# Two of node a's and b's own frames, so that each has an entry for the other one; then
# the third node must be in both.
stand_between() {
	local port

	port=$(wire c)
	device_run a ping -c 1 -W 5 "${net}2" >"$out/ping"
	device_run c scripts/lib/python.sh wiretap.offload "$port"
	start_party c "$top/$out" 'answering for both' scripts/lib/python.sh \
		wiretap.between "$port" "${net}2/${mac}2" "${net}1/${mac}1"
	[[ ! $control =~ ^(static|acl)$ ]] || return 0
	await 20 is_misled a 2
	await 20 is_misled b 1
}
is_misled() {
	device_run "$1" ip neigh show dev eth0 | grep -q "^$net$2 lladdr ${mac}3"
}

# The wire beneath all, at node b; for a sweep, which does not come by there, at node a:
# without answers, and of its numbers the last two.
capturing=
begin_capture() {
	local roce='udp port 4791' psn='(udp[16:4] & 0xffffff)'

	watched=b
	if [[ $attack == sweep ]]; then
		watched=a
		roce+=" and udp[8] != 0x11 and ($psn < $predicted or $psn >= $((predicted + numbers - 2)))"
	fi
	device_run "$watched" tcpdump -i eth0 -n -s 4096 --immediate-mode \
		-B 32768 -U -Z root -w /run/reach.pcap \
		"($roce) or tcp or esp or ether proto 0x88e5 or ether proto 0x88b5" \
		>"$out/capture" 2>&1 &
	capturing=$!
	await 20 grep -qs 'listening on' "$out/capture" || {
		echo "reach: tcpdump on node $watched: $(<"$out/capture")" >&2
		return 1
	}
}
# A frame that is none of the run's follows it; what has that has all before it.
end_capture() {
	device_run "$watched" python3 -c 'import socket
wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
wire.bind(("eth0", 0))
wire.send(bytes.fromhex("525400524405" "525400524406" "88b5") + b"reach.sh ends")'
	await 60 device_run "$watched" grep -aq 'reach.sh ends' /run/reach.pcap || {
		echo "reach: the capture on node $watched is not whole" >&2
		return 1
	}
	device_run "$watched" pkill -INT -x tcpdump
	wait "$capturing"
	capturing=
	device_run "$watched" cp /run/reach.pcap "$top/$out/wire.pcap"
}
