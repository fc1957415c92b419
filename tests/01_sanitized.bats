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
