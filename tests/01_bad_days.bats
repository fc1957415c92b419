#!/usr/bin/env bats
#
# 01_bad_days.bats - chapter 01 when the other end is absent, is stuck, or is
# killed at any step: a deadline of one's own, and the next client is served
# shellcheck disable=SC2154 # the variables of on_device.bash

load helpers
CHAPTER=01_send_recv

setup_file() {
	open_still_device
	build_chapter "$CHAPTER"
}

absent_hosts() {
	local device

	run_client 1 ./client -a 192.0.2.99
	says_one client.err 'RDMA_CM_EVENT_ADDR_ERROR \(status -110, Conn.*\): '
	[[ $ms -lt 60000 ]] || fail "it took $ms ms"
	# This one has an answer to "who has 192.0.2.98", but none after.
	device=$(ip -o route get 192.0.2.98)
	device=${device##* dev }
	device=${device%% *}
	ip neigh replace 192.0.2.98 lladdr 02:00:00:00:00:98 nud permanent \
		dev "$device"
	run_client 1 ./client -a 192.0.2.98 -t 2
	ip neigh del 192.0.2.98 dev "$device"
	says_one client.err \
		'RDMA_CM_EVENT_ESTABLISHED: nothing came within 2 s; .* -t '
	# The CM by itself would take a minute and a half.
	[[ $ms -ge 2000 && $ms -lt 60000 ]] || fail "it took $ms ms"
	# A host, but no server.
	run_client 1 ./client -a "$address" -p 20999
	says_one client.err 'RDMA_CM_EVENT_REJECTED \(status 8\): no server lis'
}

@test "01: an absent host, a host that is down, a host without server" {
	needs_lab
	on_device a absent_hosts
}

# stuck_server CALL REGEX: the client gives up a server that stops at CALL,
# and says REGEX; the server goes on later and serves the next client.
stuck_server() {
	at "$1" stop
	start_server "${at[@]}" ./server
	run_client 1 ./client -a "$address" -t 3
	says_one client.err "$2: nothing came within 3 s; .* -t "
	[[ $ms -ge 3000 && $ms -lt 60000 ]] || fail "it took $ms ms"
	await "a stopped server" state "$server" T
	kill -CONT "$server"
	await "a server that is done with the client" server_is_done
	serves_a_client
	stop_server
}

stuck_servers() {
	stuck_server 'rdma_accept 1' RDMA_CM_EVENT_ESTABLISHED
	stuck_server 'ibv_post_send 1' 'a completion'
	stuck_server 'rdma_disconnect 1' RDMA_CM_EVENT_DISCONNECTED
}

@test "01: a server that does not answer" {
	FUNCTIONS=stuck_server on_device a stuck_servers
}

# stuck_client CALL REGEX: the server gives up a client that stops at CALL,
# says REGEX, and serves the next client while the first is still there.
stuck_client() {
	local stuck before

	count_lines server.log '^received connection request'
	before=$count
	at "$1" stop
	start_client "${at[@]}" ./client -a "$address"
	stuck=$client
	await "a stopped client" state "$stuck" T
	await "a server that has heard of it" server_has $((before + 1))
	await "a server that is done with the client" server_is_done
	serves_a_client
	count_lines server.err "^error: $2: nothing came within 3 s; .* -t "
	[[ $count -eq 1 ]] || fail "the server does not say once: $2"
	kill -KILL "$stuck"
	end_of client "$stuck" 137
}

stuck_clients() {
	start_server ./server -t 3
	stuck_client 'rdma_get_cm_event 3' RDMA_CM_EVENT_ESTABLISHED
	stuck_client 'ibv_post_send 1' 'a completion'
	stuck_client 'rdma_disconnect 1' RDMA_CM_EVENT_DISCONNECTED
	count_lines server.err ''
	[[ $count -eq 3 ]] || fail "the server said other errors"
	stop_server
}

@test "01: a client that does not answer" {
	FUNCTIONS=stuck_client on_device a stuck_clients
}

# killed_clients CALL…: a client is killed with -9 before each of these calls;
# then the server, which is always the same, serves another. After rdma_connect
# it has heard of the client, even if that is gone before it hears.
killed_clients() {
	local call before heard=0

	start_server ./server -t 2
	for call; do
		at "$call" kill
		count_lines server.log '^received connection request'
		before=$count
		run_client 137 "${at[@]}" ./client -a "$address"
		[[ $(<"$scratch/at_call") == "${call% *}" ]] ||
			fail "killed elsewhere than at $call"
		await "a server that has heard of it" server_has \
			$((before + heard))
		[[ $call != 'rdma_connect 1' ]] || heard=1
		await "a server that is done with the client" server_is_done
		serves_a_client
	done
	stop_server
}

@test "01: clients killed with -9 at any step" {
	on_device a killed_clients \
		'rdma_resolve_route 1' 'rdma_create_qp 1' 'rdma_connect 1' \
		'rdma_get_cm_event 3' 'rdma_ack_cm_event 3' 'ibv_post_send 1' \
		'ibv_poll_cq 1' 'ibv_poll_cq 2' 'rdma_disconnect 1' \
		'rdma_get_cm_event 4' 'rdma_destroy_qp 1'
}

# Two clients are killed while the server has not even looked at them.
killed_in_the_queue() {
	local first

	at 'rdma_get_cm_event 1' stop
	start_server "${at[@]}" ./server -t 2
	at 'rdma_get_cm_event 3' stop
	start_client "${at[@]}" ./client -a "$address"
	first=$client
	await "a stopped client" state "$first" T
	await "a stopped server" state "$server" T
	start_client "${at[@]}" ./client -a "$address"
	await "a stopped client" state "$client" T
	kill -KILL "$first" "$client"
	end_of client "$first" 137
	end_client 137
	kill -CONT "$server"
	await "two errors" has_errors 2
	serves_a_client
	stop_server
}
has_errors() {
	count_lines server.err '^error: '
	[[ $count -eq $1 ]]
}

@test "01: clients killed with -9 before the server has looked at them" {
	FUNCTIONS=has_errors on_device a killed_in_the_queue
}

# killed_servers STATUS CALL…: a server is killed with -9 before each of these
# calls; then the client ends in time, with STATUS.
killed_servers() {
	local status=$1 call

	shift
	for call; do
		at "$call" kill
		start_server "${at[@]}" ./server
		run_client "$status" ./client -a "$address" -t 5
		[[ $ms -lt 60000 ]] || fail "$call: it took $ms ms"
		if [[ $ended -eq 0 ]]; then
			says_nothing client.err
			has_line client.log '^received message: ' ||
				fail "$call: the client received nothing"
		else
			says_one client.err
		fi
		end_of server "$server" 137
		server=''
	done
}

@test "01: servers killed with -9 at any step" {
	on_device a killed_servers 1 \
		'rdma_migrate_id 1' 'rdma_create_qp 1' 'rdma_accept 1' \
		'rdma_get_cm_event 2' 'rdma_ack_cm_event 2' 'ibv_post_send 1'
	# From here on, the client may have got all it wants.
	on_device a killed_servers '[01]' \
		'ibv_poll_cq 1' 'ibv_poll_cq 2' 'rdma_get_cm_event 3' \
		'rdma_disconnect 1'
}
