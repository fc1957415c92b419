#!/usr/bin/env bats
#
# check_summary.bats - scripts/maint/check_summary.sh, which says what came out of a
# run of all tests: what failed and why, and that nothing was skipped in CI.

setup() {
	tap=$BATS_TEST_TMPDIR/tap
	mkdir "$tap"
	unset CI
	printf '%s\n' '1..2' 'ok 1 one' 'ok 2 two' >"$tap/a.tap"
}

summary() {
	"$BATS_TEST_DIRNAME/../scripts/maint/check_summary.sh" "$tap" "${1:-0}"
}

@test "all passed: one line" {
	echo 'ok 1 three' >"$tap/b.tap"
	run -0 summary
	[[ $output == '3 passed, 0 failed, 0 skipped' ]]
}

@test "what failed is named with what it said, and nothing else is" {
	printf '%s\n' 'ok 1 three' '# not this' 'not ok 2 four' '# because' \
		'# of that' 'ok 3 five' '# nor this' >"$tap/b.tap"
	run -1 summary
	[[ $output == 'not ok 2 four
# because
# of that
4 passed, 1 failed, 0 skipped' ]]
}

@test "a long story ends after thirty lines and says where the rest is" {
	{
		echo 'not ok 1 three'
		seq -f '# %g' 40
	} >"$tap/b.tap"
	echo 'not ok 1 four' >"$tap/c.tap"
	run -1 summary
	[[ ${lines[29]} == '# 29' ]]
	[[ ${lines[30]} == "# 11 lines more in $tap/b.tap" ]]
	[[ ${lines[31]} == 'not ok 1 four' ]]
	[[ ${lines[32]} == '2 passed, 2 failed, 0 skipped' ]]
}

@test "the ten slowest tests are named, the slowest first" {
	for n in {1..12}; do
		echo "ok $n number $n in ${n}00ms"
	done >"$tap/b.tap"
	echo 'not ok 13 slow in 5001ms' >"$tap/c.tap"
	run -1 summary
	[[ $output == *$'The slowest tests:\n    5.0 s  c: slow\n    1.2 s  b: number 12\n'* ]]
	[[ $output == *'    0.4 s  b: number 4'* && $output != *'b: number 3'* ]]
}

@test "JUnit's form has each test's time, and what failed" {
	printf '%s\n' 1..2 'ok 1 three in 1029ms' 'not ok 2 "four" & five' '# why' >"$tap/b.tap"
	# shellcheck source=scripts/lib/tap.sh
	source "$BATS_TEST_DIRNAME/../scripts/lib/tap.sh"
	run tap_junit "$tap"/*.tap
	[[ $output == *'<testcase name="1 three" time="1.029">'* ]]
	[[ $output == *'<testcase name="1 one">'*'[not ok 2 "four" & five'*why* ]]
}

@test "a test that is skipped is named in the last line, and fails a run in CI" {
	printf '%s\n' 'ok 1 three # skip no device' 'ok 2 four in 5ms # skip no luck' \
		'ok 3 five in 7ms' >"$tap/b.tap"
	run -0 summary
	[[ $output == *'
3 passed, 0 failed, 2 skipped
NOT TESTED: three: no device
NOT TESTED: four: no luck' ]]
	CI=true run -1 summary
}

@test "what had to be run again is told, and is no failure" {
	printf '%s\n' '# run again, since it says so: x' 'ok 1 three' \
		>"$tap/b.tap"
	run -0 summary
	[[ ${lines[0]} == 'run again, since it says so: x' ]]
	[[ ${lines[1]} == '3 passed, 0 failed, 0 skipped' ]]
}

@test "what took the processors is told, if it is known" {
	echo 'Processors: 2.0 min, of which' >"$tap/processors"
	run -0 summary
	[[ ${lines[0]} == 'Processors: 2.0 min, of which' && ${#lines[@]} -eq 2 ]]
}

@test "a run that broke off keeps its status; one without tests is none" {
	run -3 summary 3
	rm "$tap/a.tap"
	run -1 summary
	[[ ${lines[0]} == 'no test has run' ]]
	run -2 "$BATS_TEST_DIRNAME/../scripts/maint/check_summary.sh"
}
