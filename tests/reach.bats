#!/usr/bin/env bats
#
# reach.bats - what docs/psn_security.md says of those who attack a connection, and of
# what stops them: each row of its table, seen in the logs of both ends

# shellcheck disable=SC2154 # top, output, stderr: set by helpers.bash and bats
load helpers

# A lab of its own, beside that of the other files: it has a third node.
setup_file() {
	LAB_NAME=${LAB_NAME:-tests-$(cksum <<<"$top" | cut -d ' ' -f 1)}-three
	export LAB_NAME DEVICE=lab
	"$top/scripts/lab.sh" status >/dev/null 2>&1 || export REACH_OURS=yes
	"$top/scripts/lab.sh" up --nodes 3
	# A longer sweep tells no more.
	SWEEP=8192 "$top/scripts/reach.sh" >"$BATS_FILE_TMPDIR/table"
}

teardown_file() {
	[[ ${REACH_OURS:-} != yes ]] || "$top/scripts/lab.sh" down
}

# use ATTACK CONTROL: sets out to the folder of that run.
use() {
	out=$top/build/reach/$1/$2
	tail -n +1 "$out"/*.log "$out"/logs/*
}

# effects ATTACK CONTROL=EFFECT…: what the table says, and of nothing else.
effects() {
	sed -n "s/^$1 \+\([a-z]*\) \+[0-9]* \+\([a-z]*\) .*/\1=\2/p" \
		"$BATS_FILE_TMPDIR/table" >"$BATS_TEST_TMPDIR/effects"
	cat "$BATS_FILE_TMPDIR/table"
	shift
	diff "$BATS_TEST_TMPDIR/effects" <(printf '%s\n' "$@")
}

# both STATUS: both ends have ended so.
both() {
	[[ $(grep -c "exit status $1" "$out/logs/status.log") -eq 2 ]]
}

@test "reach: a UDP socket of another user forges a message; a filter stops it" {
	effects user_send none=yes rights=yes box=no filter=no acl=yes macsec=yes ipsec=yes \
		seal=noticed
	use user_send none
	grep -q '^user 65534 sends a SEND of its own' "$out/party.log"
	# The server has got it, believes it, and finds nothing.
	[[ $(grep -c 'status=0 .*opcode=128' "$out/logs/server.log") -eq 1 ]]
	grep -qx 'lent memory: ' "$out/logs/server.log"
	# Root could do more, so it would prove nothing.
	run -1 device_run b "$top/scripts/lib/python.sh" wiretap.neighbour 192.0.2.2 \
		192.0.2.1 send
	[[ $output == *'run it as another user'* ]]
	# What is on the network below does not help, and a seal does.
	use user_send seal
	grep -q '^error: the peer sent a message of 8 bytes' "$out/logs/server.err"
}

@test "reach: a filter knows a program's packets from those of rxe" {
	use user_send filter
	grep -q '^user 65534 cannot send: Operation not permitted' "$out/party.log"
	grep -qE 'skuid 0-4294967295 counter packets 1 bytes .* drop$' "$out/party.log"
	# Those of rxe pass the same hook.
	grep -qE 'udp dport 4791 counter packets [1-9][0-9]* bytes' "$out/party.log"
	both 0
}

@test "reach: a UDP socket of another user ends a connection" {
	effects user_end none=yes filter=no
	use user_end none
	both 1
}

@test "reach: a queue pair of another user's own sends to the client's peer" {
	effects user_qp none=yes rights=no box=yes filter=yes ipsec=yes seal=noticed
	use user_qp none
	# What it has sent was acknowledged to the client, and not to it.
	grep -q '^user 65534 has a queue pair of its own: status 12 ' "$out/party.log"
	use user_qp rights
	grep -q '^user 65534 cannot: ibv_open_device' "$out/party.log"
	both 0
	# The filter knows no owner of it: the first rule does not fit.
	use user_qp filter
	grep -qE 'skuid 0-4294967295 counter packets 0 bytes 0 drop$' "$out/party.log"
}

@test "reach: a forged answer to a READ is in the reader's memory, unnoticed" {
	effects data none=yes macsec=no ipsec=no seal=noticed
	use data none
	grep -qx 'remote buffer: forged: neither of you wrote this' "$out/logs/client.log"
	both 0
	use data seal
	grep -q '^error: the memory is not what the peer has sealed' "$out/logs/client.err"
}

@test "reach: a forged ACK: a SEND is complete, and has never arrived" {
	effects ack none=yes ipsec=no
	use ack none
	[[ $(grep -c '^send completed successfully' "$out/logs/client.log") -eq 2 ]]
	run ! grep -q 'opcode=128' "$out/logs/server.log"
}

@test "reach: a forged NAK: a SEND has failed, and has arrived" {
	effects nak none=yes ipsec=no
	use nak none
	grep -q 'status=10 (remote access error)' "$out/logs/client.log"
	grep -q 'status=0 .*opcode=128' "$out/logs/server.log"
}

@test "reach: a TCP RST ends the RDMA connection" {
	effects rst none=yes ipsec=no
	use rst none
	grep -q '^sends one of its own: a TCP RST' "$out/party.log"
	both 1
}

@test "reach: a forged goodbye of the CM's ends a connection of 02" {
	effects dreq none=yes ipsec=no
	use dreq none
	grep -qx 'sends one of its own: a DREQ' "$out/party.log"
	# It is the first, before any packet of the connection's own.
	run ! grep -q 'status=0' "$out/logs/server.log" "$out/logs/client.log"
	both 1
	use dreq ipsec
	both 0
}

@test "reach: a third host gets between the two, and fixed neighbours keep it out" {
	local attack kind

	for attack in between between6; do
		effects "$attack" none=yes static=no acl=no ipsec=no
		use "$attack" none
		grep -q '^read an RDMA WRITE' "$out/party.log"
		grep -qx 'its ICRC is what anybody would compute' "$out/party.log"
		[[ $attack == between ]] && kind=0800 || kind=86dd
		use "$attack" static
		grep -qx "passed on: 0 of ethertype 0x$kind" "$out/party.log"
	done
}

@test "reach: an access list drops what a port may not say, by IP, ARP and IPv6" {
	use sweep acl
	grep -q 'ip saddr != 192.0.2.3 counter packets 8192 ' "$out/party.log"
	use between acl
	grep -q 'arp saddr ip != 192.0.2.3 counter packets [1-9]' "$out/party.log"
	use between6 acl
	grep -q 'nd-neighbor-advert .* counter packets [1-9]' "$out/party.log"
}

@test "reach: who has read nothing tries all numbers; a random one is not among them" {
	local psn

	use sweep random
	psn=$(sed -n 's/^Local PSN: \(0x[0-9a-f]*\),.*/\1/p' "$out/logs/client.log")
	if [[ $((psn >> 16)) -eq 90 ]]; then
		skip "the random PSN $psn is among the predicted ones, as once in 256"
	fi
	# The source is in the same Ethernet, so the reverse path is no other.
	effects sweep none=yes source=yes acl=no random=no ipsec=no
}

@test "reach: what rxe enforces of windows and of SEND with Invalidate" {
	gcc -std=gnu11 -Wall -Wextra -Werror -O2 -o "$top/build/windows" \
		"$top/tests/windows.c" -libverbs
	run -0 device_run c "$top/build/windows"
	diff <(printf '%s\n' "$output") "$top/docs/reach/windows.txt"
}

@test "reach: each run has its ladder" {
	local net

	for out in "$top"/build/reach/*/*/logs; do
		[[ $out == */between6/* ]] && net=2001:db8:: || net=192.0.2.
		grep -qF "ms  ${net}2 > ${net}1  " "${out%/logs}/ladder" ||
			[[ $out =~ /(macsec|ipsec)/ && -s ${out%/logs}/ladder ]]
	done
	# Of a sweep, the last two numbers; and none that a port has not let pass.
	run -0 grep -c 'SEND Only .*PSN 0x5a1ff[ef]' "$top/build/reach/sweep/none/ladder"
	[[ $output -eq 2 ]]
	run ! grep 'SEND Only .*PSN 0x5a1ff[ef]' "$top/build/reach/sweep/acl/ladder"
	# The client's WRITE has the PSN of what somebody else has sent.
	run -0 grep -oE '(SEND|WRITE) Only .*PSN .*' "$top/build/reach/user_send/none/ladder"
	[[ ${lines[-1]} == *' again' ]]
}

@test "reach: the lab's network is as it was" {
	local node

	for node in a:1 b:2 c:3; do
		run -0 device_run "${node%:*}" bash -c 'rdma link; ip xfrm state; ip netns list
			nft list tables; ip neigh show nud permanent; stat -c %a /dev/infiniband/rdma_cm
			cat /sys/class/net/eth0/address'
		[[ $output == 'link rxe0/1 state ACTIVE '*" netdev eth0 "$'\n'666$'\n'"52:54:00:52:44:0${node#*:}" ]]
	done
}

@test "reach: nothing of it runs outside of the lab, or to another address" {
	local addresses mac=525400524401 count

	gcc -std=gnu11 -o "$BATS_TEST_TMPDIR/own_qp" \
		"$top/scripts/lib/wiretap/own_qp.c" -libverbs
	for addresses in '192.0.2.2 198.51.100.1' '192.0.2.9 192.0.2.1'; do
		# shellcheck disable=SC2086 # two words
		run -2 "$top/scripts/lib/python.sh" wiretap.sweep $addresses 17 0 1
		[[ $output == *'is no node of the lab'* ]]
		# shellcheck disable=SC2086
		run -2 "$top/scripts/lib/python.sh" wiretap.neighbour $addresses
		[[ $output == *'is no node of the lab'* ]]
		# shellcheck disable=SC2086
		run -2 "$BATS_TEST_TMPDIR/own_qp" $addresses 17 0
		[[ $output == *'is no node of the lab'* ]]
		run -2 "$top/scripts/lib/python.sh" wiretap.between lo \
			"${addresses% *}/$mac" "${addresses#* }/$mac"
		[[ $output == *'is no node of the lab'* ]]
	done
	run -2 "$top/scripts/lib/python.sh" wiretap.between lo \
		"2001:db8::2/$mac" "2001:db8:1::1/$mac"
	[[ $output == *'is no node of the lab'* ]]
	run -1 "$top/scripts/lib/python.sh" wiretap.sweep 192.0.2.2 192.0.2.1 17 0 1
	[[ $output == *'not a node of the lab'* ]]
	run -1 "$BATS_TEST_TMPDIR/own_qp" 192.0.2.2 192.0.2.1 17 0
	[[ $output == *'not a node of the lab'* ]]
	run -1 "$top/scripts/lib/python.sh" wiretap.between lo \
		"192.0.2.2/$mac" "192.0.2.1/$mac"
	[[ $output == *'not a node of the lab'* ]]
	run -2 "$top/scripts/reach.sh" user_send wishes
	run -2 "$top/scripts/reach.sh" wishes none
	for count in 0 65537 many 1x; do
		SWEEP=$count run -2 "$top/scripts/reach.sh" sweep none
		[[ $output == *"SWEEP=$count: how many numbers?"* ]]
	done
}
