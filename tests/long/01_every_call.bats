#!/usr/bin/env bats
#
# 01_every_call.bats - chapter 01, where each and every call of its programs is
# the one at which they are killed
# shellcheck disable=SC2154 # the variables of on_device.bash

load ../helpers
CHAPTER=01_send_recv

setup_file() {
	export LIMIT=3000
	open_device
	build_chapter "$CHAPTER"
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
