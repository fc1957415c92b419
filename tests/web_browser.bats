#!/usr/bin/env bats
#
# The pages and the lab in them, in Chromium: web/check.sh. With the kernel that
# `make web` has built, it takes some minutes. Where nobody has built that yet,
# only the pages are opened: to build it takes longer than all tests together may.


@test "the pages in Chromium, and the lab where its kernel is built" {
	cd "$BATS_TEST_DIRNAME/.."
	if [[ -e ${XDG_CACHE_HOME:-$HOME/.cache}/rdma-web/kernel/bzImage ]]; then
		run -0 web/check.sh
	else
		echo '# no kernel of make web: the pages, and not the lab in them' >&3
		run -0 web/check.sh --pages
	fi
}

