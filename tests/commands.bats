#!/usr/bin/env bats
#
# Commands that the Markdown files mark as runnable run, on a real device, and end
# with status 0.

# shellcheck disable=SC2154 # set by helpers.bash
load helpers

setup_file() { open_device; }

# bats test_tags=chapters
@test "every command that is marked as runnable runs" {
	local chapters

	# There are some.
	[[ $(cd "$top" && grep -l '^```sh run' ./*.md ./*/*.md | wc -l) -ge 5 ]]
	read -ra chapters <<<"${CHECK_CHAPTERS:-}"
	run "$top/scripts/maint/check_commands.py" --run "${chapters[@]}"
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "one that fails is found" {
	local tree=$BATS_TEST_TMPDIR/tree

	git init -q "$tree"
	touch "$tree/Makefile"
	printf '%s\n' '```sh run' 'true' 'false # here' '```' >"$tree/a.md"
	run -1 "$top/scripts/maint/check_commands.py" -r "$tree" --run
	echo "$output"
	[[ $output == *'a.md:2: status 1'* ]]
	# Where a folder is named, only what is in it runs.
	mkdir "$tree/01_one"
	run -0 "$top/scripts/maint/check_commands.py" -r "$tree" --run 01_one
	mv "$tree/a.md" "$tree/01_one"
	run -1 "$top/scripts/maint/check_commands.py" -r "$tree" --run 01_one
	[[ $output == *'01_one/a.md:2: status 1'* ]]
}
