#!/usr/bin/env bats
#
# The exercises: each solution applies to its chapter and does what is asked for.
# Those of 05, the others of 06 and 07, and that no chapter as it is does what any of
# them asks for are in long/exercises.bats. Needs a device.

# shellcheck disable=SC2154 # set by helpers.bash
load helpers
load exercises

setup_file() { open_device; }

# unsolved CHAPTER NAME TEXT: without it, TEXT is said to be missing.
unsolved() {
	run -1 "$top/scripts/exercise.sh" --check "$1" "$2" "$top/$1"
	[[ $output == *"missing  $3"* && $output == *'things are missing'* ]]
}

@test "01: send back what came" {
	solved 01_send_recv echo
}

@test "01: three messages at once" {
	solved 01_send_recv three
}

@test "01: say who you are" {
	solved 01_send_recv name
}

@test "01: a chapter as it is solves no exercise" {
	unsolved 01_send_recv name \
		'one that does not is refused, and knows by whom'
}

@test "02: write behind what is there" {
	solved 02_write_read append
}

@test "02: a write that says that it is there" {
	solved 02_write_read write_imm
}

@test "02: a number for every client" {
	solved 02_write_read ticket
}

@test "03: the same exchange with a program that is not ours" {
	solved 03_pure_verbs pingpong
}

@test "03: without acknowledgements" {
	solved 03_pure_verbs unreliable
}

@test "04: is it the same peer" {
	solved 04_tls_psn bind
}

@test "04: is it what the peer has written" {
	solved 04_tls_psn seal
}

@test "04: who may come" {
	solved 04_tls_psn allow
}

@test "06: one that does not read" {
	solved 06_rds others
}

@test "07: compress on the way" {
	solved 07_full_speed compress
}

@test "08: several loops" {
	solved 08_event_loop loops
}

# bats test_tags=chapters
@test "each exercise is listed, with its text, its check and its solution" {
	local page names name chapter

	for page in "$top"/[0-9][0-9]_*/exercises/README.md; do
		chapter=$(dirname "$page")
		names=("$chapter"/*.patch)
		[ ${#names[@]} -ge 1 ]
		run -0 "$top/scripts/exercise.sh" "$(basename "${chapter%/*}")"
		for name in "${names[@]}"; do
			name=$(basename "$name" .patch)
			[[ $output == *" $name "* ]]
			[ -s "$chapter/$name.md" ]
			[ -s "$chapter/$name.solution.md" ]
			# The task is read first, and must not give it away.
			! grep -q '<details>' "$chapter/$name.md"
			patch -f -s --dry-run -d "${chapter%/*}" -p1 \
				<"$chapter/$name.patch"
			[ -s "$chapter/$name.sh" ]
			# Both are handed out in work/, by these names.
			[ ! -e "${chapter%/*}/repair/$name" ]
		done
	done
}

@test "a copy that does not build, and wrong usage, are said" {
	chapter_update "$top/01_send_recv" "$BATS_TEST_TMPDIR/copy"
	echo 'int x = ;' >>"$BATS_TEST_TMPDIR/copy/client.c"
	run -1 "$top/scripts/exercise.sh" --check 01 1 "$BATS_TEST_TMPDIR/copy"
	[[ $output == *'missing  it builds'* ]]
	run -2 "$top/scripts/exercise.sh" 01 nothing
	[[ $output == *"no exercise of 01_send_recv 'nothing'"* ]]
	run -2 "$top/scripts/exercise.sh" 01 9
	run -2 "$top/scripts/exercise.sh" 99
	run -2 "$top/scripts/exercise.sh" --check 01 1 "$BATS_TEST_TMPDIR"
	[[ $output == *'no Makefile'* ]]
}
