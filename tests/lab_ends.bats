#!/usr/bin/env bats
#
# lab_ends.bats - labs that are killed, that belong to another user, that lack
# something, or that are told something they do not understand

load lab
load lab_ends

@test "the machine goes when its keeper is killed, and the rest is cleaned up" {
	local pid status

	"$TOP/scripts/lab.sh" up --nodes 1 3>&- &
	pid=$!
	eventually booting
	kill -KILL "$(sed -n 's/^keeper=//p' /tmp/rdma-lab.*."$LAB_NAME"/notes)"
	status=0
	wait "$pid" || status=$?
	[[ $status == 1 ]] || fail "status $status"
	eventually eval '! processes >/dev/null'
	run -1 lab status
	[[ $output == *"left behind"*"not up"* ]]
	nothing_left
}

# stop_qemu PIDS: stop node a's qemu, if its PID is not in the file PIDS; add it.
stop_qemu() {
	local pid

	pid=$(pgrep -f "^qemu[^ ]* .*rdma-lab-$LAB_NAME-a" | grep -vxFf "$1") || return
	kill -STOP "$pid"
	echo "$pid" >>"$1"
}

# Each boot is seconds of processor time, so this lab is used for four: where there is no
# bwrap, a virtual machine runs without.
@test "without bwrap, three nodes on a switch: one that hangs is booted again; a shell, and the end" {
	local stopped=$BATS_TEST_TMPDIR/stopped bin=$BATS_TEST_TMPDIR/bin node pid status=0

	programs_without "$bin" bwrap
	: >"$stopped"
	eventually stop_qemu "$stopped" 3>&- &
	PATH=$bin LAB_SILENCE=40 run -0 lab up --nodes 3
	wait $!
	[[ $output == *"warning: a node can write .git"*"bwrap is not installed"* ]]
	[[ $output == *"node a said nothing new for 40 s: booting it again"* ]]
	[[ $output == *'up after '*': three nodes, tcg'* ]]
	[[ ! -e /proc/$(<"$stopped") ]]
	# All have found each other.
	for node in a b; do
		lab exec c -- ping -c 1 -W 20 "$node"
	done
	lab exec a -- ping -c 1 -W 20 b
	lab exec b -- ping -c 1 -W 20 a
	# A shell waits for a line that does not come; script gives it a terminal.
	exec {silence}<> <(:)
	script -qefc "'$TOP/scripts/lab.sh' shell" "$BATS_TEST_TMPDIR/said" \
		<&"$silence" >/dev/null 3>&- &
	pid=$!
	eventually grep -q 'node-a:' "$BATS_TEST_TMPDIR/said"
	run -0 lab down
	wait "$pid" || status=$?
	[[ $status -eq 255 ]]
	grep -q "the lab '$LAB_NAME' is no longer up" "$BATS_TEST_TMPDIR/said"
	grep -q 'Start it: scripts/lab.sh up' "$BATS_TEST_TMPDIR/said"
}

@test "a node that hangs twice is given up" {
	local stopped=$BATS_TEST_TMPDIR/stopped

	: >"$stopped"
	for _ in 1 2; do
		eventually stop_qemu "$stopped"
	done 3>&- &
	LAB_SILENCE=5 run -1 lab up --nodes 1
	wait $!
	[[ $output == *"node a hung during the boot, twice"* ]]
	[[ $(wc -l <"$stopped") == 2 ]]
	nothing_left
}

@test "an unprivileged user needs nothing else" {
	local home=$BATS_TEST_TMPDIR/home kernel

	# The files of the cache of the user who runs this; else fetch them.
	kernel=${LAB_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/rdma-lab}/kernel
	mkdir -p "$home/cache"
	if [[ -d $kernel ]]; then
		cp -rl "$kernel" "$home/cache" || cp -r "$kernel" "$home/cache"
	fi
	gives_home "$home"
	needs_nothing_else
}

@test "what is missing is named, with what to try" {
	LAB_KERNEL=/nonexistent run -1 lab up
	[[ $output == *"LAB_KERNEL=/nonexistent is not a file"*"unset it"* ]]
	nothing_left
	# A host whose own kernel will do needs no cache.
	if [[ ! -r /lib/modules/$(uname -r)/modules.dep ]]; then
		LAB_CACHE=/proc/none run -1 lab up
		[[ $output == *"/proc/none"*"Set LAB_CACHE"* ]]
		nothing_left
	fi
	programs_without "$BATS_TEST_TMPDIR/bin" 'qemu-system-*' busybox
	PATH=$BATS_TEST_TMPDIR/bin run -1 lab up
	[[ $output == *"not installed: qemu-system-"*busybox*apt-get\ install* ]]
	nothing_left
}

@test "a mistake in the command line is named, and status is 2" {
	local arguments

	for arguments in '' 'start' 'up --nodes' 'up --engine fast' 'up --nodes 5' 'up now' \
		'exec' 'exec e -- true' 'exec a' 'exec true' 'exec -u' \
		'shell e' 'down now' 'status now' 'fetch now'; do
		# shellcheck disable=SC2086 # several words
		run -2 lab $arguments
		[[ $output == "lab.sh: "*"lab.sh -h"* ]] || fail "$arguments"
	done
	LAB_NAME=../x run -2 lab status
	LAB_ENGINE=fast run -2 lab status
	LAB_MEMORY=1G run -2 lab status
	LAB_SILENCE=0 run -2 lab status
	[[ $output == *"LAB_SILENCE '0' must be a number of seconds"* ]]
	LAB_SILENCE=1m run -2 lab status
	run -0 lab -h
	[[ $output == *Usage:*LAB_NAME* ]]
}
