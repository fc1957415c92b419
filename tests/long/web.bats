#!/usr/bin/env bats
#
# web.bats - every logged run, every broken case and every exercise in the page, in
# Chromium; the lab in Firefox.

@test "all runs, cases and exercises in the page" {
	cd "$BATS_TEST_DIRNAME/../.."
	run -0 web/check.sh --long
}

@test "the lab in Firefox" {
	cd "$BATS_TEST_DIRNAME/../.."
	run -0 web/check.sh --firefox
}

