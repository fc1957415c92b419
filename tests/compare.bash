# compare.bash - what the tests of compare_logs.sh have in common: the folders of a run
# and of the logs that are expected
# shellcheck shell=bash
# shellcheck disable=SC2154 # output: set by bats

load says
RUN=$BATS_TEST_TMPDIR/run
EXPECTED=$BATS_TEST_TMPDIR/expected

compare() {
	scripts/compare_logs.sh "$@" "$RUN" "$EXPECTED"
}

matches() {
	run -0 compare
	[[ $output == matches ]]
}

# differs TEXT…: they do not match, and each of this is said.
differs() {
	run -1 compare
	says_each "$@"
}

# refused TEXT…: they cannot be compared, and this is why.
refused() {
	run -2 compare
	says_each "$@"
}
