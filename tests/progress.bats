#!/usr/bin/env bats
#
# What is noted of what a reader has done, and what comes next. Needs no device.

setup() {
	top=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
	export PROGRESS=$BATS_TEST_TMPDIR/progress
}

note() {
	# shellcheck source=scripts/lib/progress.sh
	(source "$top/scripts/lib/progress.sh" && progress_note "$@")
}

@test "a new reader is told to run the first chapter, then to read it" {
	run -0 "$top/scripts/progress.sh" --next
	[[ ${lines[0]} == 'make demo CH=01' ]]
	note run 01_send_recv/default
	run -0 "$top/scripts/progress.sh" --next
	[[ ${lines[0]} == 01_send_recv/README.md && $output == *'READ=01'* ]]
	run -0 "$top/scripts/progress.sh" --read 1
	[[ $output == *'01_send_recv             yes      1 of 3'* ]]
	run -0 "$top/scripts/progress.sh" --next
	[[ ${lines[0]} == 'make break CH=01 CASE='* && $output == *'the next first file is in 02_write_read/README.md' ]]
	# That one is not offered to those who have read it.
	note read 02_write_read
	run -0 "$top/scripts/progress.sh" --next
	[[ $output == *'the next first file is in 03_pure_verbs/README.md' ]]
}

@test "what was said first counts, and is counted" {
	note guess 01_send_recv/no_recv yes
	note guess 01_send_recv/no_recv no
	note guess 01_send_recv/no_send no
	run -0 "$top/scripts/progress.sh"
	[[ $output == *'Of 2 guesses, 1 were right.'* ]]
	run -2 "$top/scripts/progress.sh" --xml
	[[ $output == *'--xml is no option of it'* ]]
	[[ $(wc -l <"$PROGRESS") -eq 2 ]]
	PROGRESS='' note read 01_send_recv
	[[ $(wc -l <"$PROGRESS") -eq 2 ]]
}
