#!/usr/bin/env bats
#
# The pages and the lab in them, in Chromium: web/check.sh. The first time, it builds
# a kernel; after that, it takes about five minutes.

bats_require_minimum_version 1.5.0

@test "the pages, a visit and the lab, in Chromium" {
	cd "$BATS_TEST_DIRNAME/.."
	# The lab is built on x86_64 only.
	if [[ $(uname -m) == x86_64 ]]; then
		run -0 web/check.sh
	else
		run -0 web/check.sh --pages
	fi
}

# Shown for a test that failed.
teardown() {
	printf '%s\n' "${output:-}"
}
