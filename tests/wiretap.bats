#!/usr/bin/env bats
#
# wiretap.bats - what docs/psn_security.md says that a switch can do, and what not: seen
# in the logs of both ends, and in the switch's capture

# shellcheck disable=SC2154 # top, output, stderr: set by helpers.bash and bats
load helpers

setup_file() {
	open_device
	[[ $device_where == lab ]] || return 0
	"$top/scripts/wiretap.sh" 03 open 04 open 04 nothing 04 badkey 04 told 04 macsec 04 ipsec
}

# use CHAPTER LINK: sets out to the folder of that run.
use() {
	needs_lab
	out=$top/build/wiretap/$1/$2
	tail -n +1 "$out"/*.log "$out"/logs/*
}

# packets FILTER FIELD…: of those that the switch passed on; the server has
# 192.0.2.1.
packets() {
	local field command

	command=(tshark -n -r "$out/switch.pcap" -Y "$1" -T fields)
	shift
	for field; do
		command+=(-e "$field")
	done
	"${command[@]}" 2>/dev/null
}

# count FILE REGEX: how many of its lines match.
count() {
	grep -cE "$2" "$out/$1" || true
}

# The client's last SEND is a success for the client, acknowledged, and was
# never delivered.
swallowed() {
	local psn

	# The client: WRITE and MSG_DONE, both complete. But its goodbye is not
	# answered.
	[[ $(count logs/client.log '^send completed successfully') -eq 2 ]]
	grep -q 'WRITE: Both DONE, disconnecting' "$out/logs/client.log"
	grep -q '^error: .*ended without a goodbye' "$out/logs/client.err"
	grep -qx 'client: exit status 1' "$out/logs/status.log"
	# The server: nothing came, and it has waited for it.
	[[ $(count logs/server.log 'status=0 .*opcode=128') -eq 0 ]]
	[[ $(count logs/server.log 'Both DONE') -eq 0 ]]
	grep -q "^error: the peer's MSG_DONE .*nothing came" "$out/logs/server.err"
	grep -qx 'server: exit status 1' "$out/logs/status.log"
	# The forged packet had the number of that SEND.
	psn=$(sed -n 's/.* its own: .*PSN \(0x[0-9a-f]*\),.*/\1/p' \
		"$out/switch.log")
	[[ $(packets "ip.src == 192.0.2.2 && infiniband.bth.opcode == 4" \
		infiniband.bth.psn | tail -n 1) -eq $((psn)) ]]
	[[ $(packets "ip.src == 192.0.2.1 && infiniband.bth.opcode == 17" \
		infiniband.bth.psn | tail -n 1) -eq $((psn)) ]]
	# More, if the machine is so busy that others were sent again.
	[[ $(cat "$out/duplicates") -gt 0 ]]
}

# And the switch's packet is in the server's memory.
overwritten() {
	grep -qx 'lent memory: forged: neither of you wrote this' \
		"$out/logs/server.log"
	swallowed
}

# One packet is read, and one is sent.
reads_and_forges() {
	grep -q '^read an RDMA WRITE: ' "$out/switch.log"
	grep -qx 'its ICRC is what anybody would compute' "$out/switch.log"
	grep -qx 'sent of its own: 1' "$out/switch.log"
	overwritten
}

# Nothing of the switch's has arrived, and nothing can be read.
unharmed() {
	local own

	own=$(sed -n 's/^sent of its own: //p' "$out/switch.log")
	[[ $own -gt 0 ]]
	[[ $(packets frame eth.type | sort -u) == 0x88e5 ]]
	run ! grep -qaE 'message from|RDMA|rdma-params' "$out/switch.pcap"
	grep -q '^lent memory: message from active/client side' \
		"$out/logs/server.log"
	[[ $(count logs/server.log 'Both DONE') -eq 1 ]]
	[[ $(count logs/client.log 'Both DONE') -eq 1 ]]
	[[ $(count logs/status.log 'exit status 0') -eq 2 ]]
}

@test "wiretap: in 03 one forged WRITE overwrites memory and swallows a SEND" {
	use 03 open
	reads_and_forges
	grep -qa 'RDMA 1 QPN' "$out/switch.pcap"
}

@test "wiretap: in 04 just the same, though the exchange cannot be read" {
	use 04 open
	reads_and_forges
	run ! grep -qaE 'QPN|RKEY' "$out/switch.pcap"
	# It is the payload that can: here, the client's message.
	grep -qa 'message from active/client side' "$out/switch.pcap"
}

@test "wiretap: a WRITE of no bytes needs no rkey, and swallows a SEND as well" {
	use 04 nothing
	grep -q '^sends one of its own: .* address 0x0, rkey 0x0$' \
		"$out/switch.log"
	swallowed
	grep -q '^lent memory: message from active/client side' \
		"$out/logs/server.log"
}

@test "wiretap: a wrong rkey at the right number ends the connection" {
	use 04 badkey
	grep -q '^lent memory: message from active/client side' \
		"$out/logs/server.log"
	grep -q '^error: ' "$out/logs/server.err"
	grep -q '^error: ' "$out/logs/client.err"
	[[ $(count logs/status.log 'exit status 1') -eq 2 ]]
}

@test "wiretap: who is told the numbers need not read a packet" {
	use 04 told
	grep -q '^was told of an RDMA WRITE: ' "$out/switch.log"
	overwritten
}

@test "wiretap: on MACsec, 04 is not to be read, nor to be forged" {
	use 04 macsec
	unharmed
}

@test "wiretap: with IPsec, 04 is not to be forged either" {
	use 04 ipsec
	[[ $(sed -n 's/^sent of its own: //p' "$out/switch.log") -gt 0 ]]
	[[ -n $(packets esp frame.number) ]]
	[[ -z $(packets 'ip and not esp' frame.number) ]]
	grep -q '^lent memory: message from active/client side' \
		"$out/logs/server.log"
	[[ $(count logs/status.log 'exit status 0') -eq 2 ]]
}

@test "wiretap: the lab's network is as it was" {
	local node number=1

	needs_lab
	for node in a b; do
		run -0 device_run "$node" bash -c 'rdma link; ip -br addr'
		[[ $output == *'link rxe0/1 state ACTIVE '*' netdev eth0 '* ]]
		[[ $output == *"192.0.2.$number/24 2001:db8::$number/64 "* ]]
		[[ $output != *eth1* && $output != *macsec0* ]]
		number=2
	done
	run -0 device_run b ip netns list
	[[ -z $output ]]
}

@test "wiretap: nothing of it runs outside of the lab" {
	local before

	before=$(ip link; ip addr)
	run --separate-stderr -1 "$top/scripts/lib/python.sh" wiretap.switch lo lo \
		"$BATS_TEST_TMPDIR/capture"
	[[ $stderr == *'not a node of the lab'* ]]
	[[ ! -e $BATS_TEST_TMPDIR/capture ]]
	for command in switch 'macsec lo 00 00' mend; do
		# shellcheck disable=SC2086 # several words
		run --separate-stderr -1 "$top/scripts/lib/wiretap/net.sh" $command
		[[ $stderr == *'not a node of the lab'* ]]
	done
	[[ $(ip link; ip addr) == "$before" ]]
	run -2 "$top/scripts/wiretap.sh" 01 open
	run -2 "$top/scripts/wiretap.sh" 03 wifi
}
