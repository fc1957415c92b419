#!/usr/bin/env bats
#
# once_more.bats - once_more() of helpers.bash: which runs are made once more
# shellcheck disable=SC2154 # set by helpers.bash and run

bats_require_minimum_version 1.5.0
load helpers

# Says what the file N of the test has, and fails; without such a file it is well.
says() {
	local n=1

	[[ ! -e $BATS_TEST_TMPDIR/done ]] || n=$(($(<"$BATS_TEST_TMPDIR/done") + 1))
	echo "$n" >"$BATS_TEST_TMPDIR/done"
	[[ ! -e $BATS_TEST_TMPDIR/$n ]] || {
		cat "$BATS_TEST_TMPDIR/$n"
		return 1
	}
}

times() { [[ $(<"$BATS_TEST_TMPDIR/done") -eq $1 ]]; }

@test "what is as logged is run once" {
	run -0 once_more it says
	[[ -z $output ]]
	times 1
}

@test "what differs fails at once" {
	echo 'status 5' >"$BATS_TEST_TMPDIR/1"
	run -1 once_more it says
	[[ $output == 'it: status 5' ]]
	times 1
}

@test "what says that the last acknowledgement is missing is run again" {
	echo "error: ${late}the bytes are right" >"$BATS_TEST_TMPDIR/1"
	once_more it says 3>"$BATS_TEST_TMPDIR/told"
	grep -q '^# run again, since it says .*: it$' "$BATS_TEST_TMPDIR/told"
	times 2
}

@test "it fails if it says so again, or if a sanitizer has said something" {
	echo "error: ${late}the bytes are right" |
		tee "$BATS_TEST_TMPDIR/1" >"$BATS_TEST_TMPDIR/2"
	run -1 once_more it says 3>/dev/null
	times 2
	rm "$BATS_TEST_TMPDIR/done"
	echo 'x.c:1: runtime error: y' >>"$BATS_TEST_TMPDIR/1"
	run -1 once_more it says 3>/dev/null
	times 1
}

# The words are those of the programs.
@test "the line is one that the programs say" {
	local chapter

	for chapter in $(chapters_where "$by_hand"); do
		tr -d '\n\t' <"$top/$chapter/probe.c" | sed 's/""//g' |
			grep -qF "$late"
	done
}
