# setup_suite.bash - bats reads it before the files of this folder
# shellcheck shell=bash

# What a program said is shown for each test that failed; before 1.7 bats reads no such file.
setup_suite() {
	bats_require_minimum_version 1.7.0
	export BATS_PRINT_OUTPUT_ON_FAILURE=yes
}
