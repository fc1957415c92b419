#!/usr/bin/env bats
#
# 01_first.bats - 01's first.c: how short it is, what it says to itself and to the
# chapter's server and client, and that it ends, with an error, whatever fails
# shellcheck disable=SC2154,SC2034 # the variables of on_device.bash

load helpers
CHAPTER=01_send_recv

setup_file() {
	open_still_device
	build_chapter "$CHAPTER"
}

@test "01: first.c has at most 185 lines, and needs no other file" {
	local lines

	lines=$(wc -l <"$top/01_send_recv/first.c")
	[[ $lines -le 185 ]]
	cp "$top/01_send_recv/first.c" "$BATS_TEST_TMPDIR"
	cd "$BATS_TEST_TMPDIR"
	for compiler in gcc clang; do
		"$compiler" -O2 -Wall -Wextra -Werror first.c -o first \
			-lrdmacm -libverbs
	done
}

refused() {
	run_client 2 ./first "$@"
	says_nothing client.log
	[[ $(<"$scratch/client.err") == "usage: ./first [ADDRESS"* ]] ||
		fail "no usage with: $*"
}

wrong_usage() {
	refused -h
	refused --help
	refused ''
	refused here
	refused 192.0.2
	refused -a 192.0.2.1
	refused 192.0.2.1 20886
}

@test "01: first says what it takes, and ends with 2" {
	# It needs no device, and this host is the fastest.
	device_where=host
	FUNCTIONS=refused on_device a wrong_usage
}

# both SERVER CLIENT: each has the other's message, and neither an error.
both() {
	local server_pid

	# shellcheck disable=SC2086 # several words
	start_server $1
	server_pid=$server
	# shellcheck disable=SC2086
	run_client 0 $2
	end_of server "$server" 0
	server=''
	says_nothing server.err
	says_nothing client.err
	has_line client.log \
		"^received message: message from passive/server side with pid $server_pid\$" ||
		fail "the client has another message"
	has_line server.log \
		"^received message: message from active/client side with pid $client_pid\$" ||
		fail "the server has another message"
}

pairs() {
	both ./first "./first $address"
	both ./first "./client -a $address"
	both './server -1' "./first $address"
}

@test "01: first talks with first, with ./client and with ./server" {
	FUNCTIONS=both on_device a pairs
}

strange_bytes() {
	start_server ./first
	run_client 0 ./client -a "$address" -s $'\e[31m\x07\xc3\xa9 red'
	end_of server "$server" 0
	server=''
	has_line server.log '^received message: \?\[31m\?\?\? red$' ||
		fail "it does not print a question mark for each such byte"
	start_server ./first
	run_client 0 ./client -a "$address" -s ''
	end_of server "$server" 0
	server=''
	has_line server.log '^received message: $' || fail "no empty message"
}

@test "01: first prints no byte of a peer that is no text, and an empty message" {
	on_device a strange_bytes
}

nobody_there() {
	run_client 1 ./first "$address"
	has_line client.log '^RDMA_CM_EVENT_REJECTED, status 8$' ||
		fail "it is not rejected"
	says_one client.err 'event->event == want: Protocol error$'
	run_client 1 ./first 192.0.2.99
	says_one client.err 'event->event == want: '
	[[ $ms -lt 60000 ]] || fail "it took $ms ms"
	# 127.0.0.1 has no device.
	run_client 1 ./first 127.0.0.1
	says_one client.err '!rdma_resolve_route\(conn->id, 2000\): No such device$'
}

@test "01: first without a server, without a host, without a device" {
	on_device a nobody_there
}

# in_time STATUS REGEX FILE: what ended did so by its deadline, with such an error.
in_time() {
	[[ $ms -ge 9000 && $ms -lt 60000 ]] || fail "$1: it took $ms ms"
	says_one "$2" "$3"
}

# silent_server CALL FD: the server stops at CALL, and the client, which waits for
# FD, gives it up.
silent_server() {
	at "$1" stop
	start_server "${at[@]}" ./first
	run_client 1 ./first "$address"
	in_time "$1" client.err "readable\\($2, TIMEOUT_MS\\): Connection timed out$"
	await "a stopped server" state "$server" T
	kill -KILL "$server"
	end_of server "$server" 137
	server=''
}

silent_servers() {
	silent_server 'rdma_accept 1' 'conn->events->fd'
	silent_server 'ibv_post_send 1' 'cq->channel->fd'
	silent_server 'rdma_disconnect 1' 'conn->events->fd'
}

@test "01: first gives up a server that does not answer, after its 10 s" {
	FUNCTIONS='silent_server in_time' on_device a silent_servers
}

# dead_client CALL REGEX: the client is killed at CALL, and the server ends.
dead_client() {
	local begin

	start_server ./first
	at "$1" kill
	begin=${EPOCHREALTIME/./}
	run_client 137 "${at[@]}" ./first "$address"
	end_of server "$server" 1
	server=''
	ms=$(((${EPOCHREALTIME/./} - begin) / 1000))
	[[ $ms -lt 60000 ]] || fail "$1: it took $ms ms"
	says_one server.err "$2"
}

dead_clients() {
	dead_client 'ibv_post_send 1' 'readable\(cq->channel->fd, TIMEOUT_MS\): Connection timed out$'
	# Another client finds the port free again.
	both ./first "./first $address"
}

@test "01: first gives up a client that dies in the middle, with status 1" {
	FUNCTIONS='dead_client both' on_device a dead_clients
}

# The server of the folder $1 posts no receive.
failed_send() {
	start_server "$1/server" -1
	run_client 1 ./first "$address"
	has_line client.log '^wc->status = 13 \(RNR retry counter exceeded\)$' ||
		fail "the send does not fail"
	says_one client.err 'wc->status == IBV_WC_SUCCESS: Input/output error$'
	end_of server "$server" 1
	server=''
}

@test "01: first ends when its send fails" {
	local dir=$builds/01_send_recv.no_recv

	chapter_update "$top/01_send_recv" "$dir"
	patch -f -s -p 1 -d "$dir" <"$top/01_send_recv/break/no_recv/patch"
	make -s -C "$dir" CFLAGS='-O2 -g -Werror' server
	on_device a failed_send "$dir"
}

second_client() {
	at 'rdma_accept 1' stop
	start_server "${at[@]}" ./first
	start_client ./first "$address"
	await "a stopped server" state "$server" T
	timeout 60 ./first "$address" >"$scratch/second.log" 2>"$scratch/second.err" &&
		fail "the second client was served"
	has_line second.log '^RDMA_CM_EVENT_REJECTED, status 8$' ||
		fail "the second client is not refused"
	kill -CONT "$server"
	end_client 0
	end_of server "$server" 0
	server=''
}

@test "01: first serves one client, and a second does not disturb it" {
	on_device a second_client
}

# fail_at_each END: each call of that end fails in its turn; both ends end.
fail_at_each() {
	local number=0 file=$1.err status

	while true; do
		number=$((number + 1))
		at "$number" fail
		local as_server=(./first) as_client=(./first "$address")
		if [[ $1 == server ]]; then
			as_server=("${at[@]}" ./first)
		else
			as_client=("${at[@]}" ./first "$address")
		fi
		: >"$scratch/server.log"
		"${as_server[@]}" >"$scratch/server.log" 2>"$scratch/server.err" &
		server=$!
		await "a server that listens or has ended" listens_or_ends
		run_client '[01]' "${as_client[@]}"
		status=$ended
		# A client that failed before it connected leaves the server waiting.
		server_has_one || kill "$server" 2>/dev/null || true
		end_of server "$server" '@(0|1|143)'
		[[ $1 == client ]] || status=$ended
		server=''
		[[ -s $scratch/at_call ]] || break
		read -r name <"$scratch/at_call"
		has_line "$file" '^error: ' || fail "$name fails: no error is said"
		[[ $status -eq 1 ]] ||
			fail "$name fails: status $status"
	done
	[[ $number -gt 20 ]] || fail "only $number calls"
	echo "$1: $number calls"
}
listens_or_ends() {
	has_line server.log '^listening' || ! is_running "$server"
}
server_has_one() {
	has_line server.log '^RDMA_CM_EVENT_CONNECT_REQUEST' || ! is_running "$server"
}

@test "01: first says which call fails, at each of its calls, and ends" {
	FUNCTIONS='listens_or_ends server_has_one' on_device a fail_at_each client
	FUNCTIONS='listens_or_ends server_has_one' on_device a fail_at_each server
}
