#!/usr/bin/env bats
#
# lab_ends_uml.bats - labs of User-Mode Linux nodes that are killed, reset, that belong
# to another user, that are large, or that lack something

load lab
load lab_ends

cache=${LAB_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/rdma-lab}

@test "up that is killed or interrupted leaves nothing" {
	killed_up INT
	killed_up KILL
}

@test "the nodes go when their keeper is killed, and the rest is cleaned up" {
	local pid status=0

	lab up --nodes 3
	kill -KILL "$(sed -n 's/^keeper=//p' /tmp/rdma-lab.*."$LAB_NAME"/notes)"
	eventually eval '! processes >/dev/null'
	run -1 lab status
	[[ $output == *"left behind"*"not up"* ]]
	nothing_left
	# Also before they are up.
	"$TOP/scripts/lab.sh" up 2>"$BATS_TEST_TMPDIR/said" 3>&- &
	pid=$!
	eventually booting
	kill -KILL "$(sed -n 's/^keeper=//p' /tmp/rdma-lab.*."$LAB_NAME"/notes)"
	wait "$pid" || status=$?
	[[ $status == 1 ]] || fail "status $status"
	grep -q 'the lab was ended while it was starting' "$BATS_TEST_TMPDIR/said"
	eventually eval '! processes >/dev/null'
}

@test "four nodes see each other, and a lab of four is no lab of two" {
	local node other

	run -0 lab up --nodes 4
	[[ $output == *"up after "*": four nodes, uml"* ]]
	for node in a b c d; do
		for other in a b c d; do
			lab exec "$node" -- ping -c 1 -W 20 "$other" >/dev/null
		done
		lab exec "$node" -- ibv_devinfo -d rxe0 | grep PORT_ACTIVE
	done
	run -0 lab status
	[[ $output == *'node d: up, rxe0 on eth0: 192.0.2.4 2001:db8::4; process '* ]]
	run -0 lab up --nodes 2
	# What two of them say to each other is not for the others.
	lab exec c -- timeout 60 tcpdump -n -l -i eth0 icmp \
		>"$BATS_TEST_TMPDIR/heard" 2>"$BATS_TEST_TMPDIR/err" 3>&- &
	eventually grep -q 'listening on' "$BATS_TEST_TMPDIR/err"
	lab exec a -- ping -4 -c 3 -i 0.2 d
	# What was sent before this has been heard when this is.
	lab exec a -- ping -4 -c 1 c
	eventually grep -q 'echo reply' "$BATS_TEST_TMPDIR/heard"
	lab exec c -- pkill -x tcpdump
	wait
	# tcpdump ends its output with an empty line.
	run -1 grep -vE '^$|IP 192[.]0[.]2[.][13] > 192[.]0[.]2[.][13]: ' "$BATS_TEST_TMPDIR/heard"
}

@test "reset: the node is off at once, tells nobody, and comes back" {
	local pid status=0

	lab up
	run -0 lab exec b -- sh -c 'echo x >/tmp/gone; echo y >/run/gone'
	lab exec b -- sleep 1000 >"$BATS_TEST_TMPDIR/said" 2>&1 3>&- &
	pid=$!
	eventually lab exec b -- pgrep -x sleep
	run -0 lab reset b
	wait "$pid" || status=$?
	[[ $status == 255 ]]
	grep -q 'node b was reset, and this command was on it' "$BATS_TEST_TMPDIR/said"
	# The error output comes by a way of its own, and so in any order.
	run -0 lab exec b -- sh -c 'ls -A /tmp /run 2>&1; hostname; cut -d . -f 1 /proc/uptime'
	[[ $output != *gone* && ${lines[-2]} == node-b && ${lines[-1]} -lt 60 ]]
	run -0 lab exec a -- ping -c 1 -W 20 b
	run -0 lab status
	[[ $output == *'node b: up'* ]]
}

@test "an unprivileged user needs nothing else" {
	local home=$BATS_TEST_TMPDIR/home

	mkdir -p "$home/cache/uml"
	cp "$cache"/uml/{linux,release,modules.*} "$home/cache/uml"
	gives_home "$home"
	needs_nothing_else
}

@test "what is in the way of this engine is named, and another one is taken" {
	local bin=$BATS_TEST_TMPDIR/bin

	mkdir "$BATS_TEST_TMPDIR/empty"
	LAB_CACHE=$BATS_TEST_TMPDIR/empty run -1 lab up
	[[ $output == *"cannot run here"*"has not been built: make lab-kernel"* ]]
	LAB_KERNEL=/vmlinuz run -1 lab up
	[[ $output == *"another kernel is asked for"* ]]
	programs_without "$bin" bwrap
	PATH=$bin run -1 lab up
	[[ $output == *"not installed: bwrap"* ]]
	# As where ptrace is forbidden: the kernel says so, and ends.
	mkdir -p "$BATS_TEST_TMPDIR/cache/uml"
	cp "$cache/uml/release" "$BATS_TEST_TMPDIR/cache/uml"
	printf '#!/bin/sh\necho "check_ptrace : child exited: Operation not permitted"\n' \
		>"$BATS_TEST_TMPDIR/cache/uml/linux"
	chmod +x "$BATS_TEST_TMPDIR/cache/uml/linux"
	LAB_CACHE=$BATS_TEST_TMPDIR/cache run -1 lab up
	[[ $output == *"ptrace is forbidden here: check_ptrace"* ]]
	# Which make doctor says, too; without --engine the lab takes another.
	LAB_CACHE=$BATS_TEST_TMPDIR/cache LAB_ENGINE='' run "$TOP/scripts/doctor.sh"
	[[ $output == *"engine   tcg, emulated"*"not uml: ptrace is forbidden here"* ||
		$output == *"engine   kvm"* ]]
	nothing_left
}

@test "a shell on a node: what is typed, and the end of the lab" {
	local pid status=0 keys

	run -0 lab up
	[[ $output == *'up after '*': two nodes, uml, '* ]]
	mkfifo "$BATS_TEST_TMPDIR/keys"
	exec {keys}<>"$BATS_TEST_TMPDIR/keys"
	script -qefc "stty rows 30 cols 90; '$TOP/scripts/lab.sh' shell b" \
		"$BATS_TEST_TMPDIR/said" <&"$keys" >/dev/null 3>&- &
	pid=$!
	eventually grep -q 'node-b:' "$BATS_TEST_TMPDIR/said"
	echo 'stty size; tty; echo $((6 * 7))' >&"$keys"
	eventually grep -qx $'42\r*' "$BATS_TEST_TMPDIR/said"
	grep -q '30 90' "$BATS_TEST_TMPDIR/said"
	grep -q '^/dev/pts/' "$BATS_TEST_TMPDIR/said"
	# Ctrl-C is for what runs in the node.
	printf 'sleep 1000\n' >&"$keys"
	eventually lab exec b -- pgrep -x sleep
	printf '\003' >&"$keys"
	eventually lab exec b -- sh -c '! pgrep -x sleep'
	run -0 lab down
	wait "$pid" || status=$?
	[[ $status -eq 255 ]]
	grep -q "the lab '$LAB_NAME' is no longer up" "$BATS_TEST_TMPDIR/said"
	grep -q 'Start it: scripts/lab.sh up' "$BATS_TEST_TMPDIR/said"
}
