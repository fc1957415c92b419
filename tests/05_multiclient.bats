#!/usr/bin/env bats
#
# 05_multiclient.bats - chapter 05: many clients, clients too many, clients that stall or die, and the end. The
# same with more of each is in tests/long/05_many.bats.

# shellcheck disable=SC2030,SC2031,SC2154 # bats' subshells; set by helpers.bash
load helpers
load 05_clients
CHAPTER=05_multiclient

setup_file() {
	open_device
	build_05 plain '-O2 -g'
	build_05 sanitized '-O1 -g -fno-omit-frame-pointer
		-fsanitize=address,undefined -fno-sanitize-recover=undefined'
	build_05 threads '-O1 -g -fno-omit-frame-pointer -fsanitize=thread'
}

@test "05: thirteen clients from another node, ten of them served" {
	local expected=$top/$CHAPTER/expected/thirteen

	needs_lab
	run_matches "$expected/commands" "$expected" -n 2 \
		-d "$top/build/tests/$CHAPTER.plain"
}

@test "05: fifty at once: all bytes verified, nothing left, memory" {
	clients_on_device many_at_once 50
	tell
}

@test "05: twenty at once, with AddressSanitizer on both ends" {
	VARIANT=sanitized clients_on_device many_at_once 20
}

@test "05: twenty at once, with ThreadSanitizer on both ends" {
	VARIANT=threads clients_on_device many_at_once 20
}

@test "05: a hundred in sequence leave nothing behind" {
	clients_on_device in_sequence 20 100
	tell
}

@test "05: full: told so, tried again, served when there is room" {
	clients_on_device full_server
}

@test "05: a thousand that connect and say nothing keep nobody waiting" {
	clients_on_device stalled 1000
}

@test "05: a thousand strangers of nine bytes cost 20 MB at the most" {
	clients_on_device cheap
	tell 4
}

@test "05: a thousand whose handshake has begun cost no more than is computed" {
	clients_on_device begun
	tell 2
}

@test "05: one address has half of a small room, and another one is served" {
	needs_lab
	clients_on_device two_addresses
}

@test "05: no more strangers than there is memory for" {
	clients_on_device few_strangers
}

@test "05: 2,048 strangers of one address leave room for others" {
	needs_lab
	clients_on_device one_address
}

@test "05: one identity cannot have all places" {
	clients_on_device one_identity
}

@test "05: no more is lent than there is memory for" {
	clients_on_device lent
}

@test "05: SIGHUP: new certificates for new clients" {
	clients_on_device renewed
}

@test "05: connections that are reset at once keep nobody waiting" {
	clients_on_device resets 60
}

@test "05: killed at one step after another, and the next one is served" {
	LIMIT=900 clients_on_device killed 8 7
	tell
}

@test "05: descriptors run out: refused politely, served when they are back" {
	clients_on_device few_descriptors
}

@test "05: connections that a signal ends at a time wait for a busy server" {
	clients_on_device slow_goodbyes
}

@test "05: a signal lets the last clients finish, a second one does not" {
	clients_on_device signals
}

@test "05: signals with AddressSanitizer" {
	VARIANT=sanitized clients_on_device signals
}

@test "05: signals with ThreadSanitizer" {
	VARIANT=threads clients_on_device signals
}

@test "05: the exercise with the metrics: whole at whatever moment, and right" {
	build_exercise metrics
	VARIANT=metrics clients_on_device metrics 100
}

@test "05: the exercise with the file of options" {
	build_exercise config_file
	VARIANT=config_file clients_on_device config_file
}
