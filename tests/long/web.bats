#!/usr/bin/env bats
#
# web.bats - the lab in the page; every logged run, every broken case and every exercise
# there, in Chromium; the lab in Firefox.

@test "the pages, and the lab in them" {
	cd "$BATS_TEST_DIRNAME/../.."
	run -0 web/check.sh
}

@test "all runs, cases and exercises in the page" {
	cd "$BATS_TEST_DIRNAME/../.."
	run -0 web/check.sh --long
}

@test "the lab in Firefox" {
	cd "$BATS_TEST_DIRNAME/../.."
	run -0 web/check.sh --firefox
}

