#!/usr/bin/env bats
#
# stock_kernel.bats - every logged run once with Debian's own kernel, in virtual machines
# with two processors: the other tests run on the lab's own kernel, which has one
#
# shellcheck disable=SC2034,SC2154 # of helpers.bash

load helpers

setup_file() {
	open_device
}

@test "every logged run can be had again with Debian's kernel" {
	local chapter

	needs_lab
	export NODES=2
	for chapter in "$top"/[0-9][0-9]_*/; do
		chapter=$(basename "$chapter")
		build_chapter "$chapter"
		[[ ! -x $top/$chapter/certs.sh ]] || {
			cp "$top/$chapter/certs.sh" "$builds/$chapter.plain"
			"$builds/$chapter.plain/certs.sh" >/dev/null
		}
		full_size assert_runs_match "$chapter"
	done
	run -0 full_size device_kernel
	[[ $output == *-amd64 || $output == *-generic ]]
}
