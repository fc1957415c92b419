#!/usr/bin/env bats
#
# The pages in Chromium: web/check.sh --pages. The lab in them needs the page's kernel
# and half an hour of a processor: long/web.bats has it, and the end of the run says so.

@test "the pages in Chromium" {
	cd "$BATS_TEST_DIRNAME/.."
	run -0 web/check.sh --pages
	echo "# NOT TESTED: the lab in the page; web/check.sh tests it" >&3
}
