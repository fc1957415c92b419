#!/usr/bin/env bats
#
# lab_parts.bats - the unit tests of the lab's program, in tests/lab: what it reads and
# what it writes, without a node

# shellcheck disable=SC2154 # set by run

setup() {
	cd "$BATS_TEST_DIRNAME/.." || return
}

# parts NAME: the tests of tests/lab/test_NAME.py pass, and there are some.
parts() {
	PYTHONPATH=scripts:tests/lab LC_ALL=C run -0 \
		/usr/bin/python3 -B -s -m unittest -v "test_$1"
	echo "$output"
	[[ $output =~ Ran\ [1-9] ]]
}

@test "the lab's parts: the command line, and the settings" {
	parts command_line
	parts settings
}

@test "the lab's parts: what the two ends of a command say to each other" {
	parts frames
	parts loop
}

@test "the lab's parts: the folder of the state" {
	parts state
}

@test "the lab's parts: which kernel, which engine, which command line" {
	parts kernel
	parts engines
}

@test "the lab's parts: the switch" {
	parts switch
}

@test "the lab's parts: the filter of system calls" {
	parts rights
}

@test "the lab's parts: each file of tests/lab is one of these" {
	local file

	for file in tests/lab/test_*.py; do
		file=${file##*/test_}
		grep -qx $'\tparts '"${file%.py}" "$BATS_TEST_FILENAME"
	done
}
