# attackers.sh - what reach.sh has its third party do, and the capture of that; to be
# sourced after device.sh and wiretap/runs.sh
#
#   as_nobody WHAT            another user of node b attacks
#   sweep                     the third node tries each PSN
#   stand_between             the third node gets between the other two
#   begin_capture, end_capture
#                             OUT/wire.pcap has what was on the wire at node b
#
# The caller has set out, the folder of this run, and control, what is to stop it.
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

# What the client's PSN is where it can be predicted: to 16 bits.
predicted=$((0x5a0000))
sweep() {
	local qpn

	# The first one that rxe gives, and each one after it; here the one that is in use.
	qpn=$(device_run a rdma resource show qp | sed -n 's/.* lqpn \([0-9]*\) .*comm server.*/\1/p')
	device_run c scripts/lib/python.sh wiretap.sweep 192.0.2.2 192.0.2.1 "$qpn" \
		"$predicted" 65536
}

# Two of node a's and b's own frames, so that each has an entry for the other one; then
# the third node must be in both.
stand_between() {
	local node

	device_run a ping -c 1 -W 5 192.0.2.2 >"$out/ping"
	device_run c scripts/lib/python.sh wiretap.offload eth0
	start_party c "$top/$out" 'answering for both' scripts/lib/python.sh \
		wiretap.between eth0 "192.0.2.2/${mac}2" "192.0.2.1/${mac}1"
	for node in a b; do
		[[ $control == static ]] || await 20 is_misled "$node"
	done
}
is_misled() {
	device_run "$1" ip neigh show dev eth0 | grep -q "lladdr ${mac}3"
}

# The wire beneath all, at node b.
capturing=
begin_capture() {
	device_run b tcpdump -i eth0 -n -s 4096 --immediate-mode -U -Z root \
		-w /run/reach.pcap "udp port 4791 or tcp or esp or ether proto 0x88e5" \
		>"$out/capture" 2>&1 &
	capturing=$!
	await 20 grep -qs 'listening on' "$out/capture" || {
		echo "reach: tcpdump on node b: $(<"$out/capture")" >&2
		return 1
	}
}
end_capture() {
	device_run b pkill -INT -x tcpdump
	wait "$capturing"
	capturing=
	device_run b cp /run/reach.pcap "$top/$out/wire.pcap"
}
