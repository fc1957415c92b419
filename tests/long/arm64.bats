#!/usr/bin/env bats
#
# arm64.bats - the chapters on another processor: the unit tests under qemu-user,
# and the logged runs of all chapters in the lab with an arm64 kernel, emulated. Debian
# only; with gcc-aarch64-linux-gnu, qemu-user-static and qemu-system-arm.

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || return
}

# Shown for a test that failed.
teardown() {
	tail -n 60 "$BATS_TEST_TMPDIR/log"
}

@test "the unit tests, built for arm64" {
	scripts/maint/arm64.sh unit >"$BATS_TEST_TMPDIR/log" 2>&1
	[[ $(grep -c '^unit, arm64: ' "$BATS_TEST_TMPDIR/log") -gt 40 ]]
}

@test "all chapters in the lab, with an arm64 kernel" {
	scripts/maint/arm64.sh demo >"$BATS_TEST_TMPDIR/log" 2>&1 3>&-
	grep -q 'kernel .*-arm64$' "$BATS_TEST_TMPDIR/log"
	[[ $(grep -c ' matches  *[0-9.]* s$' "$BATS_TEST_TMPDIR/log") -gt 15 ]]
}
