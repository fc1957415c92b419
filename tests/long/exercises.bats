#!/usr/bin/env bats
#
# The exercises of the last chapters that are not in ../exercises.bats; and
# each exercise of all chapters on a chapter as it is, which must lack something.

# shellcheck disable=SC2154 # set by helpers.bash
load ../helpers
load ../exercises

setup_file() { open_device; }

@test "05: figures for a monitor" {
	solved 05_multiclient metrics
}

@test "05: options from a file" {
	solved 05_multiclient config_file
}

@test "06: read instead of write" {
	solved 06_rds read
}

@test "no chapter as it is does what an exercise asks for" {
	local patch name chapter

	for patch in "$top"/[0-9][0-9]_*/exercises/*.patch; do
		name=$(basename "$patch" .patch)
		chapter=${patch%/exercises/*}
		echo "${chapter##*/} $name"
		run -1 "$top/scripts/exercise.sh" --check "${chapter##*/}" "$name" "$chapter"
		[[ $output == *'missing  '* && $output == *' missing;'* ]]
	done
}

@test "06: dealt with" {
	solved 06_rds sure
}

@test "07: two files at once" {
	solved 07_full_speed two
}

@test "07: one receive queue for two clients" {
	solved 07_full_speed srq
}
