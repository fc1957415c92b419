#!/usr/bin/env bats
#
# 01_every_call.bats - chapter 01, where each and every call of its programs is
# the one at which they are killed, or which fails
# shellcheck disable=SC2154 # the variables of on_device.bash

load ../helpers
CHAPTER=01_send_recv

setup_file() {
	export LIMIT=3000
	open_device
	build_chapter "$CHAPTER"
	build_sanitized "$CHAPTER"
}

# Says how far it is, in the log of a test that fails.
progress() {
	local name

	read -r name <"$scratch/at_call" || name='no further call'
	echo "call $1: $name"
}

# A client is killed at its first call, at its second, and so on, until it has
# none left; the server is always the same. It may hear of one that is gone, and
# say so, as late as it serves the next.
kill_clients() {
	local number=0

	start_server ./server -t 5
	while true; do
		number=$((number + 1))
		at "$number" kill
		run_client '@(0|137)' "${at[@]}" ./client -a "$address"
		progress "$number"
		await "a server that is done with the client" server_is_done
		[[ $ended -eq 137 ]] || break
		is_served
	done
	# It makes about 40 calls, or this was not what it should be.
	[[ $number -gt 30 ]] || fail "only $number calls"
	stop_server
}

@test "01: a client killed with -9 at each of its calls" {
	FUNCTIONS=progress on_device a kill_clients
}

# The same, with calls that fail.
fail_clients() {
	local number=0

	start_server ./server -t 5
	while true; do
		number=$((number + 1))
		at "$number" fail
		run_client '[01]' "${at[@]}" ./client -a "$address"
		progress "$number"
		await "a server that is done with the client" server_is_done
		[[ -s $scratch/at_call ]] || break
		[[ $ended -eq 1 ]] || tolerated || fail "it did not fail"
		says_one client.err
	done
	[[ $number -gt 25 ]] || fail "only $number calls"
	serves_a_client
	stop_server
}

# Calls in conn_close(), after all is done: their failure is only said.
tolerated() {
	local name

	read -r name <"$scratch/at_call"
	[[ $name =~ ^(rdma_destroy|ibv_destroy|ibv_dealloc) ]]
}

@test "01: a client of which each call fails, with sanitizers" {
	FUNCTIONS='progress tolerated' on_device -s a fail_clients
}

# A server is killed at each of its calls; it may be before it listens.
kill_servers() {
	local number=0

	while true; do
		number=$((number + 1))
		at "$number" kill
		: >"$scratch/server.log"
		"${at[@]}" ./server -1 >"$scratch/server.log" \
			2>"$scratch/server.err" &
		server=$!
		await "a server that listens or is gone" listens_or_is_gone
		run_client '[01]' ./client -a "$address" -t 5
		progress "$number"
		[[ $ended -eq 0 ]] || says_one client.err
		[[ $ms -lt 60000 ]] || fail "it took $ms ms"
		end_of server "$server" '@(0|137)'
		server=''
		[[ $ended -eq 137 ]] || break
	done
	[[ $number -gt 30 ]] || fail "only $number calls"
}
listens_or_is_gone() {
	has_line server.log '^listening' || ! is_running "$server"
}

@test "01: a server killed with -9 at each of its calls" {
	FUNCTIONS='progress listens_or_is_gone' on_device a kill_servers
}

# Each call of a server fails. It ends, or it says so and serves the next client.
fail_servers() {
	local number=0

	while true; do
		number=$((number + 1))
		at "$number" fail
		: >"$scratch/server.log"
		"${at[@]}" ./server -t 5 >"$scratch/server.log" \
			2>"$scratch/server.err" &
		server=$!
		await "a server that listens or is gone" listens_or_is_gone
		run_client '[01]' ./client -a "$address" -t 5
		progress "$number"
		# All of its calls for one client have been tried.
		[[ -s $scratch/at_call || $ended -ne 0 ]] || break
		run_client '[01]' ./client -a "$address"
		if [[ $ended -eq 0 ]]; then
			await "a server that is done with it" has_served \
				"$client_pid"
			stop_server
		else
			end_of server "$server" 1
		fi
		says_one server.err
	done
	[[ $number -gt 25 ]] || fail "only $number calls"
	await "a server that is done with it" has_served "$client_pid"
	stop_server
}
# Whether the server has seen the end of the client with this pid.
has_served() {
	local line heard=no

	while IFS= read -r line; do
		[[ $line != *"client side with pid $1" ]] || heard=yes
		[[ $line != 'peer disconnected.' || $heard == no ]] || return 0
	done <"$scratch/server.log"
	return 1
}

@test "01: a server of which each call fails, with sanitizers" {
	FUNCTIONS='progress has_served listens_or_is_gone' on_device -s a fail_servers
}
