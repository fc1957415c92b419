#!/usr/bin/env bats
# shellcheck disable=SC2154 # top: set by helpers.bash
#
# captures.bats - all cases of make break, captured and opened as anybody's capture is

load ../helpers

setup_file() {
	open_device
}

setup() {
	needs_lab
}

@test "captures: of nine in ten cases that the wire shows, the cause is named" {
	run -0 "$top/scripts/maint/capture_cases.sh" -o "$BATS_TEST_TMPDIR/captures"
	cd "$top"
	run -0 node tests/web/causes.mjs "$BATS_TEST_TMPDIR/captures" all
	echo "$output"
}
