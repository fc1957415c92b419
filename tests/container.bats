#!/usr/bin/env bats
#
# Chapter 01 in containers, made by runc on the lab's node a: what
# docs/troubleshooting.md says of them is what docs/container.txt has, and this is
# what happens.

# shellcheck disable=SC2154 # set and used by helpers.bash
load helpers

setup_file() {
	open_device
	[[ $device_where != lab ]] || build_chapter 01_send_recv
}

# Each line with the number of its command: one command's completions come in any
# order. Of the modes that `rdma system` tells, newer kernels have more.
numbered() {
	awk '/^\$ / { n++ } /^netns / { $0 = $1 " " $2 } { printf "%02d %s\n", n, $0 }' "$1" | sort
}

@test "containers: what they may see, in both modes, as docs/container.txt has it" {
	local said=$top/build/tests/container.txt

	needs_lab
	device_run a timeout 900 tests/container_runs.sh \
		"$top/build/tests/01_send_recv.plain" >"$said"
	diff <(numbered "$top/docs/container.txt") <(numbered "$said")
}
