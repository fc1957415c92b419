#!/usr/bin/env bats
#
# Commands that the Markdown files mark as runnable run, on a real device, and end
# with status 0.

# shellcheck disable=SC2154 # set by helpers.bash
bats_require_minimum_version 1.5.0
load helpers

setup_file() { open_device; }
teardown_file() { close_device; }

@test "every command that is marked as runnable runs" {
	grep -q '^```sh run' "$top/01_send_recv/README.md"
	run "$top/scripts/maint/check_commands.py" --run
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "one that fails is found" {
	local tree=$BATS_TEST_TMPDIR/tree

	mkdir -p "$tree"
	touch "$tree/Makefile"
	printf '%s\n' '```sh run' 'true' 'false # here' '```' >"$tree/a.md"
	run -1 "$top/scripts/maint/check_commands.py" -r "$tree" --run
	echo "$output"
	[[ $output == *'a.md:2: status 1'* ]]
}
