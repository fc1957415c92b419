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

@test "a link fills in, and presses no key" {
	unit link
}

@test "the service worker keeps a file only under its own hash" {
	unit service_worker
}

@test "pages, workers and pictures may load and run no more than they need" {
	unit policy
}

# kernel VERSION: build.sh, where apt-get finds that linux-source-6.1, or nothing.
kernel() {
	printf '%s\n' '#!/bin/sh' "version=$1" >"$BATS_TEST_TMPDIR/apt-get"
	cat >>"$BATS_TEST_TMPDIR/apt-get" <<-'END'
		[ "$1" = --print-uris ] || exit 0
		[ -n "$version" ] || exit 100
		echo "'http://x/linux-source-6.1_${version}_all.deb' linux-source-6.1_${version}_all.deb 1 SHA256:2"
		echo "'http://x/gcc-12_12.2.0_amd64.deb' gcc-12_12.2.0_amd64.deb 1 SHA256:3"
	END
	chmod +x "$BATS_TEST_TMPDIR/apt-get"
	PATH=$BATS_TEST_TMPDIR:$PATH web/kernel/build.sh "$BATS_TEST_TMPDIR/kernel"
}

@test "no node gets a kernel that is known to hang, or none" {
	run -1 kernel 6.1.176-1
	[[ $output == *"Linux 6.1.176-1 is too old"*debian-security* ]]
	run -1 kernel ''
	[[ $output == *"apt-get does not find linux-source-6.1"* ]]
	[[ ! -e $BATS_TEST_TMPDIR/kernel/bzImage ]]
}

@test "no module is longer than 300 lines" {
	run wc -l web/page/*.js web/page/*/*.js web/site/* web/rootfs/*.mjs tests/web/*
	[ "$(grep -v total <<<"$output" | awk '$1 > 300')" = "" ]
}
