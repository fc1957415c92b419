#!/usr/bin/env bats
#
# The exercises of the last two chapters, checked as a reader's own solution is. (That
# the solutions work is tested with their chapters as well.)

# shellcheck disable=SC2154 # set by helpers.bash
bats_require_minimum_version 1.5.0
load ../helpers
load ../exercises

setup_file() { open_device; }
teardown_file() { close_device; }

# Shown for a test that failed.
teardown() {
	printf 'status %s, output:\n%s\n' "${status:-none}" "${output:-}"
}

@test "05: figures for a monitor" {
	solved 05_multiclient metrics
}

@test "05: options from a file" {
	solved 05_multiclient config_file
}

@test "06: read instead of write" {
	solved 06_rds read
}

@test "06: one that does not read" {
	solved 06_rds others
}

@test "06: dealt with" {
	solved 06_rds sure
}
