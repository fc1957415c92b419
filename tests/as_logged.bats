#!/usr/bin/env bats
#
# as_logged.bats - as_logged() of helpers.bash: a run is as it was logged, or fails
# shellcheck disable=SC2154 # set by helpers.bash and run

load helpers

says() {
	echo "$2"
	return "$1"
}

@test "what is as logged says nothing" {
	run -0 as_logged it says 0 matches
	[[ -z $output ]]
}

@test "what differs fails, and is said" {
	run -1 as_logged it says 1 'status 5'
	[[ $output == 'it: status 5' ]]
}

@test "what cannot succeed on this kernel says why, and is well" {
	as_logged it says 3 'it forgets how.' 3>"$BATS_TEST_TMPDIR/told"
	[[ $(<"$BATS_TEST_TMPDIR/told") == '# it forgets how.' ]]
}
