#!/usr/bin/env bats
#
# stalls.bats - stalls.bash and scripts/maint/stalls.sh: which tests are run again

# shellcheck disable=SC2154 # set by helpers.bash and run
load helpers

# tried MICROSECONDS FAILING: runs a test that fails in its first FAILING tries,
# where the machine is said to have stood still at so many microseconds from now.
tried() {
	local stalls=$BATS_TEST_TMPDIR/stalls at=@

	echo "$((${EPOCHREALTIME/[.,]/} + $1)) 1234" >"$stalls"
	# bats would take its word for a test of this file's, if it stood here.
	cat >"$BATS_TEST_TMPDIR/inner.bats" <<-END
		load $top/tests/stalls
		${at}test "inner" {
			echo try >>"$BATS_TEST_TMPDIR/tries"
			echo 'status 12'
			[[ \$(wc -l <"$BATS_TEST_TMPDIR/tries") -gt $2 ]]
		}
	END
	inner "$stalls"
}

# inner STALLS: sets tries.
inner() {
	: >"$BATS_TEST_TMPDIR/tries"
	CHECK_STALLS=$1 run bats --tap "$BATS_TEST_TMPDIR/inner.bats"
	tries=$(wc -l <"$BATS_TEST_TMPDIR/tries")
}

@test "a test that fails while the machine stands still is run again, and named" {
	tried 3600000000 1
	[[ $status -eq 0 && $tries -eq 2 && $output == *$'\nok 1 inner'* ]]
	[[ $output == *'# run again, since the machine stood still for 1234 ms: inner'* ]]
	grep -qx 'status 12' "$BATS_TEST_TMPDIR/stalls.said"
}

@test "twice is a failure" {
	tried 3600000000 2
	[[ $status -eq 1 && $tries -eq 2 && $output == *'not ok 1 inner'* ]]
}

@test "what stood still before the test began is no excuse" {
	tried -1 1
	[[ $status -eq 1 && $tries -eq 1 && $output != *'run again'* ]]
}

@test "a test that passes is not run again" {
	tried 3600000000 0
	[[ $status -eq 0 && $tries -eq 1 && $output != *'run again'* ]]
}

@test "without a watcher, one failure is enough" {
	tried 3600000000 1
	inner ''
	[[ $status -eq 1 && $tries -eq 1 && $output != *'run again'* ]]
}

# A test file may source others: what these call by the same name is called instead.
@test "nothing else in the tests has the name of a function of stalls.bash" {
	local name names

	names=$(sed -n 's/^\([a-z_]*\)() {.*/\1/p' "$top/tests/stalls.bash")
	[[ $names == *again_if_stalled* ]]
	for name in $names; do
		[[ $name != teardown ]] || continue
		run -1 grep -rnE --exclude=stalls.bash \
			"^[[:space:]]*(function )?$name *\(\)" "$top/tests"
	done
}

# The watchers are what stands still here.
@test "the watcher says how long it was, and ends with whom it was started for" {
	local said=$BATS_TEST_TMPDIR/said began ms when pid deadline=$((SECONDS + 60))

	sleep 600 3>&- &
	began=${EPOCHREALTIME/[.,]/}
	"$top/scripts/maint/stalls.sh" $! >"$said" 3>&- &
	pid=$!
	# Whoever begins to watch while the others are halted has seen nothing.
	until [[ -s $said ]]; do
		pkill -STOP -P "$pid" -f stalls.sh || true
		read -rt 0.6 <> <(:) || true
		pkill -CONT -P "$pid" -f stalls.sh || true
		read -rt 0.2 <> <(:) || true
		[[ $SECONDS -lt $deadline ]] || {
			kill %1
			return 1
		}
	done
	kill %1
	wait %2
	read -r when ms <"$said"
	[[ $when -gt $began && $when -le ${EPOCHREALTIME/[.,]/} && $ms -ge 200 ]]
	run -2 "$top/scripts/maint/stalls.sh"
}
