#!/usr/bin/env bats
#
# 02_write_read.bats - chapter 02 when all goes well: the logged runs, what is
# broken on purpose, every order in which the two sides can begin, more memory
# shellcheck disable=SC2154 # the variables of on_device.bash

load helpers
CHAPTER=02_write_read

setup_file() {
	open_device
	build_chapter "$CHAPTER"
	build_sanitized "$CHAPTER"
}

@test "02: every logged run can be had again" {
	assert_runs_match "$CHAPTER"
}

@test "02: what is broken on purpose fails as promised" {
	assert_breaks_match "$CHAPTER"
}

# The states that FILE prints with each completion: how many of our requests
# had completed before it, and how many messages had come. In all there are
# three requests, one of them RDMA (opcode $2), and two messages.
check_states() {
	local line sent=0 received=0 rdma=0
	local pattern='opcode=([0-9]+), send_state=([0-9]), recv_state=([0-9])$'

	while IFS= read -r line; do
		[[ $line == '[on_completion] '* ]] || continue
		[[ $line =~ $pattern ]] || fail "$1: not as expected: $line"
		[[ ${BASH_REMATCH[2]} -eq $sent &&
			${BASH_REMATCH[3]} -eq $received ]] ||
			fail "$1: sent $sent, received $received, but: $line"
		case ${BASH_REMATCH[1]} in
		128) received=$((received + 1)) ;;
		0) sent=$((sent + 1)) ;;
		"$2") sent=$((sent + 1)) rdma=$((rdma + 1)) ;;
		*) fail "$1: no such operation here: $line" ;;
		esac
	done <"$scratch/$1"
	[[ $sent -eq 3 && $received -eq 2 && $rdma -eq 1 ]] ||
		fail "$1: sent $sent (RDMA: $rdma), received $received"
}

# check_both MODE SERVER_PID: both ends' stories of one transfer.
check_both() {
	local opcode=1

	[[ $1 == write ]] || opcode=2
	says_nothing client.err
	says_nothing server.err
	check_states client.log "$opcode"
	check_states server.log "$opcode"
	# Each has what the other wrote for it.
	has_line client.log \
		"^remote buffer: message from passive/server side with pid $2\$" ||
		fail "the client does not have the server's message"
	has_line server.log \
		"^remote buffer: message from active/client side with pid $client_pid\$" ||
		fail "the server does not have the client's message"
	has_line client.log '^disconnected\.$' || fail "client: not disconnected"
	has_line server.log '^peer disconnected\.$' ||
		fail "server: not disconnected"
}

# transfer MODE SERVER_ORDER CLIENT_ORDER [again]: once more if the client left before its
# device had acknowledged the server's MSG_DONE, as docs/reliability.md tells.
transfer() {
	local pid

	start_server ./server -1 -o "$2" "$1"
	pid=$server
	run_client 0 ./client -a "$address" -o "$3" "$1"
	end_of server "$server" '[01]'
	server=''
	if [[ $ended == 1 ]]; then
		[[ $# -eq 3 ]] || fail "the server ended with 1, twice"
		says_one server.err '^error: send of MSG_DONE: status 5 '
		transfer "$@" again
		return
	fi
	check_both "$1" "$pid"
}

orders() {
	local mode

	for mode in write read; do
		transfer "$mode" answer first
		transfer "$mode" first answer
		transfer "$mode" first first
	done
}

@test "02: write and read, whoever sends MSG_MR first" {
	FUNCTIONS='transfer check_both check_states' on_device a orders
}

@test "02: the same, with AddressSanitizer and UBSan" {
	FUNCTIONS='transfer check_both check_states' on_device -s a orders
}

two_that_answer() {
	local waited='a completion: nothing came within 6 s; is the peer alive'

	# The client is done first and disconnects.
	start_server ./server -1 -t 20 -o answer write
	run_client 1 ./client -t 6 -a "$address" -o answer write
	says_one client.err "$waited"
	end_of server "$server" 1
	server=''
	grep -q '^error: ' "$scratch/server.err" ||
		fail "the server does not say what happened"
}

@test "02: two sides that both wait for the other's MSG_MR give up" {
	on_device a two_that_answer
}

# On node b: by every address of the server.
clients_of() {
	local name

	for name in 192.0.2.1 2001:db8::1 a; do
		run_client 0 ./client -a "$name" "$1"
		says_nothing client.err
		grep '^remote buffer' "$scratch/client.log"
	done
}

@test "02: between two nodes: IPv4, IPv6, a name" {
	local pid expected said

	between_nodes 'serve_until_eof ./server -o answer read' 'clients_of read'
	expected="remote buffer: message from passive/server side with pid $pid"
	[[ ${lines[0]} == "$expected" && ${lines[1]} == "$expected" &&
		${lines[2]} == "$expected" ]]
	run ! grep '^error' <<<"$said"
	[[ $(grep -c '^peer disconnected' <<<"$said") -eq 3 ]]
}

mismatch() {
	local server_says="this side runs $1 and the peer $2; start both with"
	local client_says="this side runs $2 and the peer $1; start both with"

	start_server ./server "$1"
	run_client 1 ./client -a "$address" "$2"
	says_one client.err "$client_says the same word"
	await "a server that is done with the client" server_is_done
	says_one server.err "$server_says the same word"
	# Nothing was written or read, and the next client is served.
	! has_line client.log 'About to post' || fail "the client went on"
	! has_line server.log 'About to post' || fail "the server went on"
	run_client 0 ./client -a "$address" "$1"
	stop_server
	start_server ./server -1 "$1"
	run_client 1 ./client -a "$address" "$2"
	end_of server "$server" 1
	server=''
}

mismatches() {
	mismatch write read
	mismatch read write
}

@test "02: if one side runs write and the other read, both say so" {
	FUNCTIONS=mismatch on_device a mismatches
}

# sizes MODE BYTES…: all of it there and back, and verified on both sides.
sizes() {
	local mode=$1 bytes

	shift
	for bytes; do
		start_server ./server -1 -t 100 -b "$bytes" "$mode"
		run_client 0 ./client -t 100 -a "$address" -b "$bytes" \
			"$mode"
		end_of server "$server" 0
		server=''
		says_nothing client.err
		says_nothing server.err
		has_line client.log "^$bytes bytes verified\.\$" ||
			fail "the client has not verified $bytes bytes"
		has_line server.log "^$bytes bytes verified\.\$" ||
			fail "the server has not verified $bytes bytes"
	done
}
all_sizes() {
	sizes write 64 1025 4097 1048576 8388608
	sizes read 64 1025 4097 1048576 8388608
	# Who does not ask is not told, but what is default is the same memory.
	start_server ./server -1 write
	run_client 0 ./client -a "$address" -b 1024 write
	end_of server "$server" 0
	server=''
	! has_line server.log verified || fail "nobody has asked for that line"
}

@test "02: -b: from 64 bytes to 8 MiB, each of them verified" {
	FUNCTIONS=sizes on_device a all_sizes
}

two_sizes() {
	start_server ./server -b 4096 write
	run_client 1 ./client -a "$address" -b 8192 write
	says_one client.err \
		'this side has 8192 bytes of memory and the peer 4096; start both with the same -b'
	await "a server that is done with the client" server_is_done
	says_one server.err \
		'this side has 4096 bytes of memory and the peer 8192; start both with the same -b'
	# Nothing was written, and the next client is served.
	! has_line client.log 'About to post' || fail "the client went on"
	! has_line server.log 'About to post' || fail "the server went on"
	run_client 0 ./client -a "$address" -b 4096 write
	stop_server
}

@test "02: two sizes do not go together, and both say so" {
	on_device a two_sizes
}
