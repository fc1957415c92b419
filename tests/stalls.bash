# stalls.bash - a test that fails while the machine stands still is run once more
#
# Sourced by helpers.bash and lab.bash. The host of a virtual machine, which has
# other guests, can take a processor away for a second. A node of the lab that had it,
# with any engine, answers no packet, and after half a second the other node's device
# gives up (status 12): a User-Mode Linux halted for 0.6 s in a benchmark of 07 ends it
# each time. The deadlines of programs pass as well. From within a test that cannot be told
# from a fault. From outside it can: while check.sh runs, scripts/maint/stalls.sh
# notes in the file $CHECK_STALLS when the machine stood still, and for how long.
#
# A test that fails, and in which the machine stood still, is run once more, and the
# end of the check names it. What the first try said is kept in $CHECK_STALLS.said.
# On a machine that does not stand still, and without check.sh, one failure is enough.
# shellcheck shell=bash

# Since when it is a test's concern: bats loads the file anew for each try of each
# test. Where setup_file makes what the tests look at, it says since_here, and setup
# makes it anew for a second try.
stalls_began=${STALLS_BEGAN:-${EPOCHREALTIME/[.,]/}}
since_here() { export STALLS_BEGAN=${EPOCHREALTIME/[.,]/}; }
is_second_try() { [[ $BATS_TEST_TRY_NUMBER -gt 1 ]]; }

# stood_still SINCE: prints for how many milliseconds the machine has stood still in
# all since SINCE (microseconds since 1970); fails if it has not.
stood_still() {
	[[ -s ${CHECK_STALLS:-} ]] || return 1
	awk -v since="$1" '$1 >= since { all += $2 } END { print all + 0; exit !all }' \
		"$CHECK_STALLS"
}

# again_if_stalled: in teardown.
again_if_stalled() {
	local ms

	[[ -z ${BATS_TEST_COMPLETED:-} && $BATS_TEST_TRY_NUMBER -eq 1 ]] || return 0
	ms=$(stood_still "$stalls_began") || return 0
	# shellcheck disable=SC2034 # bats reads it
	BATS_TEST_RETRIES=1
	{
		echo "--- $BATS_TEST_DESCRIPTION"
		cat "${BATS_OUT:-/dev/null}"
	} >>"$CHECK_STALLS.said"
	echo "# run again, since the machine stood still for $ms ms: $BATS_TEST_DESCRIPTION" >&3
}

teardown() {
	again_if_stalled
}
