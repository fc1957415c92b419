#!/usr/bin/env bats
#
# option_letters.bats - a message that says "see -g" is read by somebody whose
# program has -g

letters() {
	/usr/bin/python3 -B -S "$BATS_TEST_DIRNAME/option_letters.py" "$@"
}

# bats test_tags=chapters
@test "messages: each option that one names is in that program's -h" {
	letters "$BATS_TEST_DIRNAME"/../0*_*
}

@test "messages: an option of the other program, or of none, is found" {
	local chapter=$BATS_TEST_TMPDIR/05_multiclient

	cp -r "$BATS_TEST_DIRNAME/../05_multiclient" "$chapter"
	letters "$chapter"
	# shellcheck disable=SC2016 # C, not shell
	printf '%s\n' 'int f(void)' '{' '	return log_fail("n %d" PRIu32' \
		'			"and %s; see -k", 1);' '}' >>"$chapter/crowd.c"
	run -1 letters "$chapter"
	[[ $output == *'crowd.c:'*': -k, which ./server -h does not list' ]]
	printf '%s\n' 'const char *x = "try `other -z`, scripts/y.sh --w, -j";' \
		>>"$chapter/wait.c"
	run -1 letters "$chapter"
	[[ $output == *'wait.c:'*': -j, which ./client -h does not list'* ]]
	# The folder's own name may have a "-z" in it.
	[[ $output != *': -z,'* && $output != *': --w,'* ]]
}
