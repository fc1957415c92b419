#!/usr/bin/env bats
#
# Wrong solutions: those that a newcomer writes, or that a lax check lets pass. Each
# is a patch on top of the solution (or, with "On: chapter", on the chapter), that
# says in its first lines why it is wrong and what the check must say is missing.
# One of each exercise of 01 to 04 is run here, another with every commit;
# long/exercises_wrong.bats runs all. Needs a device.

# shellcheck disable=SC2154 # set by helpers.bash
load helpers
load exercises

setup_file() { open_device; }

# bats test_tags=chapters
@test "each exercise has three wrong solutions, which say why and what is missing" {
	local task chapter name wrong

	for task in "$top"/[0-9][0-9]_*/exercises/*.sh; do
		chapter=$(basename "${task%/exercises/*}")
		name=$(basename "$task" .sh)
		wrong=("$top/tests/wrong/$chapter/$name"/*.patch)
		[ ${#wrong[@]} -ge 3 ]
		for wrong in "${wrong[@]}"; do
			echo "$wrong"
			[ -n "$(header "$wrong" Wrong)" ]
			[ -n "$(header "$wrong" Missing)" ]
		done
	done
	# And none is without an exercise.
	for wrong in "$top"/tests/wrong/*/*; do
		chapter=$(basename "$(dirname "$wrong")")
		[ -s "$top/$chapter/exercises/${wrong##*/}.sh" ]
	done
}

@test "01: send back what came, wrongly" {
	one_wrong 01_send_recv echo
}

@test "01: three messages at once, wrongly" {
	one_wrong 01_send_recv three
}

@test "01: say who you are, wrongly" {
	one_wrong 01_send_recv name
}

@test "02: write behind what is there, wrongly" {
	one_wrong 02_write_read append
}

@test "02: a write that says that it is there, wrongly" {
	one_wrong 02_write_read write_imm
}

@test "02: a number for every client, wrongly" {
	one_wrong 02_write_read ticket
}

@test "03: the same exchange with a program that is not ours, wrongly" {
	one_wrong 03_pure_verbs pingpong
}

@test "03: without acknowledgements, wrongly" {
	one_wrong 03_pure_verbs unreliable
}

@test "04: is it the same peer, wrongly" {
	one_wrong 04_tls_psn bind
}

@test "04: who may come, wrongly" {
	one_wrong 04_tls_psn allow
}

@test "04: is it what the peer has written, wrongly" {
	one_wrong 04_tls_psn seal
}
