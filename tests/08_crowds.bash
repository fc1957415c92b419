# 08_crowds.bash - what tests/08_event_loop.bats and its long brother do on node a
# shellcheck shell=bash
# shellcheck disable=SC2154 # set by on_device.bash

# one_client NUMBER: every tenth is killed, each at another of its calls, and every
# tenth at some time, when it may be done already.
one_client() {
	local status=0

	at=() due=0
	if [[ $1 -gt 20 && $(($1 % 10)) -eq 0 ]]; then
		at "$(($1 / 10 * 7 % 30 + 1))" kill
		due=137
	elif [[ $1 -gt 20 && $(($1 % 10)) -eq 5 ]]; then
		at=(timeout -s KILL "$(printf '0.%03d' $((RANDOM % 100 + 1)))")
		due='@(0|137)'
	fi
	"${at[@]}" ./client -a "$address" -t 60 -N 1 write \
		>"$scratch/client.log" 2>"$scratch/client.err" || status=$?
	# shellcheck disable=SC2053 # it is a pattern
	[[ $status == $due ]] || fail "client $1 ended with $status, not $due"
	[[ $status -eq 0 ]] || killed=$((killed + 1))
}

# cycles COUNT: so many clients, one after another; nothing may grow.
cycles() {
	local i before memory killed=0

	RANDOM=$1
	start_server ./server
	for ((i = 1; i <= $1; i++)); do
		one_client "$i"
		[[ $i -eq 20 ]] || continue
		await "a server without a queue pair" no_queue_pair
		before=$(objects_of_server) memory=$(memory_of_server)
	done
	await "a server without a queue pair" no_queue_pair
	soon objects_are "$before" ||
		fail "after 20 clients: $before; after $1: $after"
	! has_line server.log on_completion ||
		fail "it tells the story of each client, without -v"
	memory=$(($(memory_of_server) - memory))
	[[ $memory -lt 512 ]] || fail "it uses $memory kB more"
	stop_server
	echo "$1 clients, of which $killed were killed; memory +$memory kB"
}

# ends_with COUNT REQUESTS MS: a server with so many clients, who ask so often or are
# silent then, ends within so many milliseconds of SIGTERM.
ends_with() {
	local begin ms

	start_server ./server -t 60
	start_client ./load/load -n "$1" -N "$2" -w 300 -t 60 -a "$address" sum
	await "all clients" has_line client.log "^$1 connections in"
	[[ $2 -gt 1 ]] || await "all answers" has_line client.log ' are held\.$'
	begin=${EPOCHREALTIME/./}
	kill -TERM "$server"
	end_of server "$server" 0
	server=''
	ms=$(((${EPOCHREALTIME/./} - begin) / 1000))
	[[ $ms -lt $3 ]] || fail "it took $ms ms"
	end_client 1
	soon nothing_is_left || fail "something is left: $(rdma resource show)"
	echo "$1 clients: it ended $ms ms after SIGTERM"
}

# kill_servers STEP: a server is killed at its first call, its STEP + 1st and so on; it
# may be before it listens. Its client ends by itself, and says why in one line.
kill_servers() {
	local number=1

	while :; do
		at "$number" kill
		: >"$scratch/server.log"
		start_server_at
		run_client '[01]' ./client -a "$address" -t 5 -N 2 write
		[[ $ended -eq 0 ]] || says_one client.err
		[[ $ms -lt 60000 ]] || fail "call $number: it took $ms ms"
		end_of server "$server" '@(0|137)'
		server=''
		soon nothing_is_left ||
			fail "call $number: left: $(rdma resource show)"
		[[ $ended -eq 137 ]] || break
		number=$((number + $1))
	done
	[[ $number -gt 50 ]] || fail "only $number calls"
	echo "a server killed at its calls up to $number"
}
start_server_at() {
	"${at[@]}" ./server -e 1 -t 5 >"$scratch/server.log" \
		2>"$scratch/server.err" &
	server=$!
	await "a server that listens or is gone" listens_or_is_gone
}
listens_or_is_gone() {
	has_line server.log '^listening' || ! is_running "$server"
}
# The kernel's own, such as those of RDS, have no pid.
nothing_is_left() {
	local kind

	for kind in qp srq mr; do
		! rdma resource show "$kind" | grep -q ' pid ' || return
	done
}
