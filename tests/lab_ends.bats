#!/usr/bin/env bats
#
# lab_ends.bats - labs that are killed, that belong to another user, that lack
# something, or that are told something they do not understand

load lab
load lab_ends

# A boot is seconds of processor time, so this lab is used for three: where there is no
# bwrap, a virtual machine runs without.
@test "without bwrap, three nodes on a switch; a shell, and the end" {
	local bin=$BATS_TEST_TMPDIR/bin node pid status=0

	programs_without "$bin" bwrap
	PATH=$bin run -0 lab up --nodes 3
	[[ $output == *"warning: a node can write .git"*"bwrap is not installed"* ]]
	[[ $output == *'up after '*': three nodes, tcg'* ]]
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

@test "a node that does not come up in time is given up" {
	run -1 env PYTHONPATH="$TOP/scripts" /usr/bin/python3 -B -c 'import sys
from lib.lab import __main__, node
node.BOOT_SECONDS = 0
sys.exit(__main__.main(["up", "--nodes", "1"]))'
	[[ $output == *"node a was not ready after 0 s: the guest said nothing"*"From its console:"* ]]
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
	run -0 lab -h
	[[ $output == *Usage:*LAB_NAME* ]]
}
