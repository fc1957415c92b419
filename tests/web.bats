#!/usr/bin/env bats
#
# The JavaScript of the pages, without a browser: the wire between the two nodes,
# what it says of packets, the comparison of logs. make check-web tests the pages.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_DIRNAME/.." || return
}

# Shown for a test that failed.
teardown() {
	printf '%s\n' "${output:-}"
}

unit() {
	run -0 node --test "tests/web/$1.test.mjs"
}

@test "the wire delivers, loses, delays, doubles, reorders, holds and is cut" {
	unit wire
}

@test "a frozen node's clock stands still" {
	unit clock
}

@test "the card loses nothing" {
	unit card
}

@test "packets have the words of the recorded ladders" {
	unit packets
}

@test "the comparison in the page agrees with compare_logs.sh" {
	unit compare
}

@test "the third party at the wire sends what the lab's switch sends" {
	unit third_party
}

@test "edits, logs and the two nodes' addresses" {
	unit page
}

@test "no module is longer than 300 lines" {
	run wc -l web/page/*.js web/page/*/*.js web/site/* web/rootfs/*.mjs tests/web/*
	[ "$(grep -v total <<<"$output" | awk '$1 > 300')" = "" ]
}
