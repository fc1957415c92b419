#!/usr/bin/env bats
#
# lab_parts.bats - the unit tests of the lab's program, in tests/lab: its command line, which
# kernel and engine it takes, and the filter of system calls; without a node

# shellcheck disable=SC2154 # set by run

@test "the lab's parts" {
	cd "$BATS_TEST_DIRNAME/.." || return
	PYTHONPATH=scripts LC_ALL=C run -0 /usr/bin/python3 -B -s -m unittest discover -v -s tests/lab
	echo "$output"
	[[ $output =~ Ran\ [2-9][0-9] ]]
}
