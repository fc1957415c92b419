#!/usr/bin/env bats
#
# compare_logs.sh: numbers that count the lines before them are right wherever
# their line stands, and are compared by that; and of two lines one may stand for
# the other where that is declared. The fixtures are two runs of
# `02_write_read` in read mode: in expected/ the server's own requests complete
# early, in run/ all that the peer sends arrives before any of them does.

load compare

setup() {
	cd "$BATS_TEST_DIRNAME/.." || return
	cp -r tests/fixtures/compare_counts/. "$BATS_TEST_TMPDIR"
}

# move FILE FROM TO: line FROM comes to stand behind line TO.
move() {
	local line

	line=$(sed -n "$2p" "$1")
	edit "$1" "$3a $line"
	if [ "$2" -lt "$3" ]; then
		edit "$1" "$2d"
	else
		edit "$1" "$(($2 + 1))d"
	fi
}

@test "two orders match, both ways round, though their numbers differ" {
	matches
	run -0 scripts/compare_logs.sh "$EXPECTED" "$EXPECTED"
	cp "$EXPECTED/races" "$RUN"
	run -0 scripts/compare_logs.sh "$EXPECTED" "$RUN"
	[ "$output" = matches ]
}

@test "without the counts, the same orders do not match" {
	edit "$EXPECTED/races" '/ counts /d'
	differs 'the same event with a different value'
}

@test "a number that does not count what came before it is shown" {
	edit "$RUN/client.log" '/send_state=1/s/send_state=1/send_state=2/'
	differs 'client.log: line 11' \
		'expected "send_state=<count>,", got "send_state=2 (not 1),"'
}

@test "every number is checked, of either state and at either end" {
	local log at name tried=0 lines

	for log in server client; do
		mapfile -t lines < <(grep -n recv_state= "$RUN/$log.log")
		for at in "${lines[@]%%:*}"; do
			for name in send_state recv_state; do
				cp "$RUN/$log.log" "$BATS_TEST_TMPDIR/kept"
				edit "$RUN/$log.log" "${at}s/$name=[0-9]/$name=7/"
				differs "$name=7 (not "
				cp "$BATS_TEST_TMPDIR/kept" "$RUN/$log.log"
				tried=$((tried + 1))
			done
		done
	done
	[ "$tried" -eq 20 ]
	run -0 compare
}

@test "a number that is none is shown" {
	edit "$RUN/client.log" '11s/send_state=1/send_state=none/'
	differs 'got "send_state=none (not 1),"'
}

@test "a line that moves takes a wrong number along" {
	# The MSG_DONE to the end, where its race allows it, as it stands.
	move "$RUN/client.log" 4 14
	differs 'send_state=0 (not 3)'
	edit "$RUN/client.log" '14s/send_state=0/send_state=3/'
	run -1 compare
	edit "$RUN/client.log" '4,13s/recv_state=2/recv_state=1/'
	run -0 compare
}

@test "the lines of one event stay together, whatever the numbers" {
	# Line 5 is a completion and line 6 says so.
	move "$RUN/client.log" 4 5
	edit "$RUN/client.log" '4s/recv_state=2/recv_state=1/'
	differs 'client.log: another order'
	move "$RUN/client.log" 5 6
	edit "$RUN/client.log" '6s/send_state=0/send_state=1/'
	run -0 compare
}

@test "our own requests keep their order" {
	# The request of lines 11 and 12 before the one that it waits for.
	move "$RUN/client.log" 11 4
	move "$RUN/client.log" 12 5
	edit "$RUN/client.log" '5s/send_state=1/send_state=0/
		7s/send_state=0/send_state=1/'
	differs 'client.log: another order'
}

@test "what follows from the peer's first message does not come before it" {
	local at

	# Four lines, without any number that counts.
	for at in 7 8 9 10; do
		move "$RUN/client.log" "$at" "$((at - 5))"
	done
	sed -n 3p "$RUN/client.log" | grep '^received MSG_MR'
	differs 'client.log: another order'
	silent_on ' (not '
}

@test "expected logs that do not count as declared are refused" {
	edit "$EXPECTED/server.log" 's/send_state=3/send_state=2/'
	refused 'races:5: ' 'does not count so: line 14 of server.log: 2 instead of 3'
}

@test "a count that is wrongly written, or fits no line, is refused" {
	echo '*.log: state={m}, * counts sent' >"$EXPECTED/races"
	refused 'races:1: not of the form'
	echo '*.log: state={n} counts send completed successfully.' \
		>"$EXPECTED/races"
	refused 'races:1: no line of *.log'
	echo '*.log: * send_state={n}, * counts send completed' \
		>"$EXPECTED/races"
	refused 'does not count so'
	: >"$EXPECTED/server.log"
	: >"$RUN/server.log"
	echo 'server.log: * send_state={n}, * counts send completed *' \
		>"$EXPECTED/races"
	refused 'races:1: no line of server.log'
}

# errors EXPECTED RUN: what the client says on stderr.
errors() {
	printf '%s\n' "$1" >"$EXPECTED/client.err"
	printf '%s\n' "$2" >"$RUN/client.err"
}

@test "a line may stand for another where a race says so, and nothing else" {
	errors 'error: receive: status 5' 'error: send of MSG_DONE: status 5'
	run -1 compare
	echo 'client.err: error: receive: status 5 | error: send of *: status 5' \
		>>"$EXPECTED/races"
	matches
	errors 'error: send of MSG_MR: status 5' 'error: receive: status 5'
	run -0 compare
	errors 'error: receive: status 5' 'error: receive: status 5'
	run -0 compare
	errors 'error: receive: status 5' 'error: send of MSG_DONE: status 12'
	differs '-<a line of races:' '+error: send of MSG_DONE: status 12'
	errors 'error: receive: status 5' $'error: receive: status 5\nerror: x'
	run -1 compare
	: >"$RUN/client.err"
	run -1 compare
}

@test "a choice of which neither line is in the expected logs is refused" {
	errors 'error: receive: status 12' 'error: receive: status 12'
	echo 'client.err: error: receive: status 5 | error: send of *: status 5' \
		>>"$EXPECTED/races"
	refused 'no line of client.err'
}
