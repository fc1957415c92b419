#!/usr/bin/env bats
#
# 08_many.bats - chapter 08 with as many clients as it is for. What these say is in
# docs/reliability.md. MANY_CYCLES and MANY_CLIENTS override how many.
# shellcheck disable=SC2154 # set by helpers.bash

load ../helpers
CHAPTER=08_event_loop

setup_file() {
	open_device
	build_chapter "$CHAPTER"
}

# crowds FUNCTION [ARGUMENT…]: it is one of 08_crowds.bash; what it says last is told.
crowds() {
	# shellcheck source=tests/08_crowds.bash
	source "$top/tests/08_crowds.bash"
	LIMIT=3600 FUNCTIONS='one_client start_server_at listens_or_is_gone
		nothing_is_left' on_device a "$@" >"$BATS_TEST_TMPDIR/said" || {
		cat "$BATS_TEST_TMPDIR/said"
		return 1
	}
	echo "# $(tail -n 1 "$BATS_TEST_TMPDIR/said")" >&3
}

@test "08: five thousand clients one after another, of whom some are killed: nothing grows" {
	crowds cycles "${MANY_CYCLES:-5000}"
}

@test "08: SIGTERM ends a server with a thousand clients, who are silent or ask" {
	crowds ends_with "${MANY_CLIENTS:-1000}" 1 30000
	crowds ends_with "${MANY_CLIENTS:-1000}" 100000 30000
}

@test "08: a server killed with -9 at each of its calls" {
	crowds kill_servers 1
}
