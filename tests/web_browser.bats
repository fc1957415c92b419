#!/usr/bin/env bats
#
# The pages and the lab in them, in Chromium: web/check.sh. The first time, it builds
# a kernel; after that, it takes about five minutes.

bats_require_minimum_version 1.5.0

@test "the pages, a visit and the lab, in Chromium" {
	cd "$BATS_TEST_DIRNAME/.."
	# Where the lab's kernel and packages are at hand: Debian 12 on x86_64.
	if [[ $(uname -m) == x86_64 ]] && apt-cache show linux-source-6.1 >/dev/null 2>&1; then
		run -0 web/check.sh
	else
		run -0 web/check.sh --pages
	fi
}

# Shown for a test that failed.
teardown() {
	printf '%s\n' "${output:-}"
}
