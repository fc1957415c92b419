#!/usr/bin/env bats
#
# Wrong solutions of the last two chapters; see ../exercises_wrong.bats.

bats_require_minimum_version 1.5.0
load ../helpers
load ../exercises

setup_file() { open_device; }
teardown_file() { close_device; }

@test "05: figures for a monitor, wrongly" {
	wrong 05_multiclient metrics
}

@test "05: options from a file, wrongly" {
	wrong 05_multiclient config_file
}

@test "06: read instead of write, wrongly" {
	wrong 06_rds read
}

@test "06: one that does not read, wrongly" {
	wrong 06_rds others
}

@test "06: dealt with, wrongly" {
	wrong 06_rds sure
}
