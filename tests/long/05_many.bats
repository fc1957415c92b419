#!/usr/bin/env bats
#
# 05_many.bats - chapter 05 with as many clients as it is for. What these say is
# in docs/reliability.md. MANY_CLIENTS, MANY_SEQUENCE and MANY_KILLS override how
# many.
# shellcheck disable=SC2031,SC2154 # bats' subshells; set by helpers.bash

load ../helpers
load ../05_clients
CHAPTER=05_multiclient

setup_file() {
	open_device
	build_05 plain '-O2 -g'
	build_05 sanitized '-O1 -g -fno-omit-frame-pointer
		-fsanitize=address,undefined -fno-sanitize-recover=undefined'
	build_05 threads '-O1 -g -fno-omit-frame-pointer -fsanitize=thread'
}

@test "05: the logged run with a thousand clients can be had again" {
	local expected=$top/$CHAPTER/long/thousand

	PAIR_LIMIT=900 run_matches "$expected/commands" "$expected" \
		-d "$top/build/tests/$CHAPTER.plain"
}

@test "05: a thousand at a time: bytes, memory, PSNs" {
	LIMIT=900 clients_on_device many_at_once "${MANY_CLIENTS:-1000}"
	tell
}

@test "05: five thousand in sequence" {
	LIMIT=3600 clients_on_device in_sequence 100 "${MANY_SEQUENCE:-5000}"
	tell
}

@test "05: a hundred at a time, with AddressSanitizer on both ends" {
	VARIANT=sanitized LIMIT=900 clients_on_device many_at_once 100
	tell
}

@test "05: a hundred at a time, with ThreadSanitizer on both ends" {
	VARIANT=threads LIMIT=900 full_size clients_on_device many_at_once 100
	tell
}

@test "05: killed a hundred times, at one step after another" {
	LIMIT=1800 clients_on_device killed "${MANY_KILLS:-100}" 1
	tell
}
