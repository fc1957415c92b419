# setup_suite.bash - bats reads it before the files of this folder
# shellcheck shell=bash

# What a program said is shown for each test that failed.
setup_suite() {
	bats_require_minimum_version 1.5.0
	export BATS_PRINT_OUTPUT_ON_FAILURE=yes
}
