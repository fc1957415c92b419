#!/usr/bin/env bats
#
# 05_bad_days.bats - chapters 04 and 05 when a peer that was let in never stops
# talking; 05 when it is short of memory, when nobody reads what it says, when
# it is stopped in the middle, and when a client may not come

# shellcheck disable=SC2154 # the variables of on_device.bash
bats_require_minimum_version 1.5.0
load helpers
load 05_clients

setup_file() {
	local chapter dir

	open_device
	for chapter in 04_tls_psn 05_multiclient; do
		dir=$top/build/tests/$chapter.plain
		chapter_update "$top/$chapter" "$dir"
		cp "$top/$chapter"/*.sh "$dir"
		make -s -j2 -C "$dir" CFLAGS='-O2 -g -Werror'
	done
	build_shim
	cc -std=gnu11 -Wall -Wextra -Werror -O2 -o "$top/build/tests/flood_keys" \
		"$top/tests/flood_keys.c" -lssl -lcrypto
}

teardown_file() {
	close_device
}

# --- the functions below run on node a

# flood SECONDS: a client that floods the server, in the background.
flood() {
	start_client ../flood_keys client 4433 "$alpn" "$1" "$address"
	await "a flood" has_line client.log '^flooding'
}
# flood_is_over PID: it was ended by the other side, and long before its time.
flood_is_over() {
	end_of flood "$1" 0
	[[ $((SECONDS - begin)) -lt 60 ]] ||
		fail "it took $((SECONDS - begin)) s"
}

# flooded_server ALPN SIGNALS: -t ends it, and so do so many signals.
flooded_server() {
	local alpn=$1 begin=$SECONDS n

	start_server ./server -t 5 write
	flood 240
	flood_is_over "$client"
	await "an error" has_line server.err "^error: .*the peer's parameters"
	has_line server.err "the peer's parameters: nothing came within 5 s" ||
		fail "not for being late"
	run_client 0 ./client -a "$address" -t 60 write
	says_nothing client.err
	stop_server
	begin=$SECONDS
	start_server ./server -t 600 write
	flood 240
	# The client is done with the handshake before the server is.
	await "a handshake" has_line server.log 'authenticated peer'
	for ((n = 1; n <= $2; n++)); do
		kill -TERM "$server"
		# It takes each of them by itself.
		await "a signal that is taken" has_taken "$n" "$2"
	done
	end_of server "$server" 0
	flood_is_over "$client"
	has_line server.err "the peer's parameters: given up, since this pro" ||
		fail "not for being stopped"
}
# The last signal ends it; those before are told of.
has_taken() {
	[[ $1 -eq $2 ]] || has_line server.log '^asked to stop'
}

# flooded_client ALPN STATUS: the same with a server that floods its client,
# which ends with STATUS when it is stopped: 04's leaves signals as they are.
flooded_client() {
	local begin=$SECONDS

	start_server ../flood_keys server 4434 "$1" 240
	run_client 1 ./client -a "$address" -p 4434 -t 5 write
	says_one client.err 'hello: nothing came within 5 s'
	flood_is_over "$server"
	begin=$SECONDS
	start_server ../flood_keys server 4434 "$1" 240
	start_client ./client -a "$address" -p 4434 -t 600 write
	await "a flood" has_line server.log '^flooding'
	kill -TERM "$client"
	end_client "$2"
	[[ $2 -ne 1 ]] || says_one client.err 'hello: given up, since this pr'
	flood_is_over "$server"
}

@test "04: a client that never stops talking is given up at -t, and at SIGTERM" {
	CHAPTER=04_tls_psn FUNCTIONS='flood flood_is_over has_taken' LIMIT=150 \
		on_device a flooded_server rdma-params/2 1
}

@test "05: a client that never stops talking is given up at -t, and at SIGTERM" {
	CHAPTER=05_multiclient FUNCTIONS='flood flood_is_over has_taken' LIMIT=150 \
		on_device a flooded_server rdma-params/3 2
}

@test "04: a server that never stops talking is given up at -t, and at SIGTERM" {
	CHAPTER=04_tls_psn FUNCTIONS='flood_is_over' LIMIT=150 \
		on_device a flooded_client rdma-params/2 143
}

@test "05: a server that never stops talking is given up at -t, and at SIGTERM" {
	CHAPTER=05_multiclient FUNCTIONS='flood_is_over' LIMIT=150 \
		on_device a flooded_client rdma-params/3 1
}

@test "05: as many clients as there is memory for are let in, others hear of it" {
	clients_on_device little_memory
}

@test "05: a server whose log nobody reads serves, and ends" {
	clients_on_device unread
}

@test "05: no server, and a client that is to make a million connections" {
	clients_on_device no_server
}

@test "05: what can pass by itself is tried again, with -r" {
	clients_on_device passing
}

@test "05: what cannot pass, or has begun, is not tried again" {
	clients_on_device not_repeated
}

@test "05: a client that may not come is refused, and the next one is served" {
	clients_on_device refused_clients
}
