#!/usr/bin/env bats
#
# 01_sanitized.bats - chapter 01 with AddressSanitizer and UBSan: whatever it
# does, and whatever fails, no memory is misused and none is lost
# shellcheck disable=SC2154 # the variables of on_device.bash

load helpers
CHAPTER=01_send_recv

setup_file() {
	open_device
	build_sanitized "$CHAPTER"
}

# Or the other tests of this file prove nothing.
a_leak() {
	start_server ./server
	at 'rdma_connect 1' leak
	run_client 1 "${at[@]}" ./client -a "$address"
	has_line client.err '^SUMMARY: AddressSanitizer: 77 byte' ||
		fail "the leak is not seen"
	stop_server
}

@test "01: a leak of a client is seen" {
	on_device -s a a_leak
}

@test "01: every logged run can be had again with sanitizers" {
	assert_runs_match "$CHAPTER" sanitized
}

# stops SIGNAL: the server ends with 0, and says nothing.
stops() {
	start_server ./server
	stop_server "$1"
	says_nothing server.err
	start_server ./server
	serves_a_client
	stop_server "$1"
	says_nothing server.err
}

# stops_when_stuck SIGNAL CALL REGEX: it ends with 0 at once while it waits for
# a client that has stopped at CALL, when its own log has REGEX.
stops_when_stuck() {
	local begin

	start_server ./server -t 3600
	at "$2" stop
	start_client "${at[@]}" ./client -a "$address" -t 2
	await "a stopped client" state "$client" T
	await "a server that waits for it" has_line server.log "$3"
	begin=$SECONDS
	stop_server "$1"
	[[ $((SECONDS - begin)) -lt 60 ]] || fail "it took a minute"
	says_one server.err ': given up, since this program was asked to stop$'
	# The client finds nobody, and says so, if it still wants something.
	kill -CONT "$client"
	end_client '[01]'
	[[ $ended -eq 0 ]] || says_one client.err
}

signals() {
	stops TERM
	stops INT
	stops_when_stuck TERM 'rdma_get_cm_event 3' 'received connection req'
	stops_when_stuck INT 'ibv_post_send 1' '^connected'
	stops_when_stuck TERM 'rdma_disconnect 1' '^received message'
}

@test "01: SIGTERM and SIGINT end a server, idle or with a client that is stuck" {
	FUNCTIONS='stops stops_when_stuck' on_device -s a signals
}

# clients_fail CALL…: at each of these calls a client fails: it names the call
# in one line and ends with 1; the server, always the same, serves another.
clients_fail() {
	local call

	start_server ./server -t 2
	for call; do
		at "$call" fail
		run_client 1 "${at[@]}" ./client -a "$address"
		says_one client.err "^error: ${call% *}: (Input|failed without).*; "
		await "a server that is done with the client" server_is_done
	done
	serves_a_client
	stop_server
}

@test "01: whichever call of a client fails, it is named and nothing is lost" {
	on_device -s a clients_fail \
		'rdma_create_event_channel 1' 'rdma_create_id 1' \
		'rdma_resolve_addr 1' 'rdma_resolve_route 1' \
		'ibv_alloc_pd 1' 'ibv_create_comp_channel 1' \
		'ibv_create_cq 1' 'rdma_create_qp 1' 'ibv_reg_mr 1' \
		'ibv_reg_mr 2' 'ibv_post_recv 1' 'rdma_connect 1' \
		'rdma_get_cm_event 3' 'ibv_post_send 1' 'ibv_poll_cq 2' \
		'rdma_disconnect 1'
}

# servers_fail CALL…: at each of these calls a server fails with its first
# client: it names the call in one line and serves the next client.
servers_fail() {
	local call

	for call; do
		at "$call" fail
		start_server "${at[@]}" ./server -t 2
		start_client ./client -a "$address"
		await "$call that fails" has_line server.err '^error: '
		says_one server.err "^error: ${call% *}: (Input|failed without).*; "
		end_client '[01]'
		serves_a_client
		stop_server
	done
}

@test "01: whichever call of a server fails, it is named and the next is served" {
	on_device -s a servers_fail \
		'rdma_create_event_channel 2' 'rdma_migrate_id 1' \
		'ibv_create_cq 1' 'ibv_reg_mr 2' 'rdma_accept 1' \
		'ibv_post_send 1' 'ibv_poll_cq 2' 'rdma_disconnect 1'
}

# A server that fails before it listens ends with 1.
servers_fail_early() {
	local call

	for call; do
		at "$call" fail
		run_client 1 "${at[@]}" ./server
		says_one client.err "^error: ${call% *}: Input/output error; "
		says_nothing client.log
	done
}

@test "01: a server that cannot listen says why" {
	on_device -s a servers_fail_early signalfd\ 1 \
		'rdma_create_event_channel 1' 'rdma_create_id 1' \
		'rdma_bind_addr 1' 'rdma_listen 1'
}

# An error path of each kind that needs no failing call.
errors_of_others() {
	run_client 1 ./client -a 127.0.0.1
	says_one client.err
	run_client 1 ./client -a "$address" -p 20999
	says_one client.err
	run_client 2 ./client -a "$address" -p 0
	says_one client.err
	start_server ./server -t 20
	run_client 1 ./server
	says_one client.err
	at 'rdma_ack_cm_event 3' kill
	run_client 137 "${at[@]}" ./client -a "$address"
	await "a server that is done with the client" server_is_done
	serves_a_client
	stop_server
}

@test "01: errors without a failing call, with sanitizers" {
	on_device -s a errors_of_others
}
