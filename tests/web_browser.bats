#!/usr/bin/env bats
#
# The pages and the lab in them, in Chromium: web/check.sh. With the kernel that
# `make web` has built, it takes some minutes. Where nobody has built that yet,
# only the pages are opened, and the end of the run says so.

@test "the pages in Chromium, and the lab in them" {
	cd "$BATS_TEST_DIRNAME/.."
	if [[ -e ${XDG_CACHE_HOME:-$HOME/.cache}/rdma-web/kernel/bzImage ]]; then
		run -0 web/check.sh
	else
		run -0 web/check.sh --pages
		echo "# NOT TESTED: the lab in the page, whose kernel is not built: make web" >&3
	fi
}
