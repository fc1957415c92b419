#!/usr/bin/env bats
#
# 02_write_read.bats - chapter 02 when all goes well: the logged runs, what is
# broken on purpose, every order in which the two sides can begin, the benchmark
# shellcheck disable=SC2154 # the variables of on_device.bash

bats_require_minimum_version 1.5.0
load helpers
CHAPTER=02_write_read

setup_file() {
	open_device
	build_chapter "$CHAPTER"
	build_sanitized "$CHAPTER"
}

teardown_file() {
	close_device
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

# transfer MODE SERVER_ORDER CLIENT_ORDER
transfer() {
	local pid

	start_server ./server -1 -o "$2" "$1"
	pid=$server
	run_client 0 ./client -a "$address" -o "$3" "$1"
	end_of server "$server" 0
	server=''
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

@test "02: the same, and a benchmark, with AddressSanitizer and UBSan" {
	FUNCTIONS='transfer check_both check_states' on_device -s a orders
	FUNCTIONS='bench check_table' on_device -s a bench_shapes 64 20 4
}

two_that_answer() {
	local waited='a completion: nothing came within 3 s; is the peer alive'

	# The client is done first and disconnects.
	start_server ./server -1 -t 20 -o answer write
	run_client 1 ./client -t 3 -a "$address" -o answer write
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
	run_client 0 ./client -a a -n 20 -c
	grep -E '^(write|read),' "$scratch/client.log"
}

@test "02: between two nodes: IPv4, IPv6, a name; a benchmark" {
	local pid expected said

	between_nodes 'serve_until_eof ./server -o answer read' 'clients_of read'
	expected="remote buffer: message from passive/server side with pid $pid"
	[[ ${lines[0]} == "$expected" && ${lines[1]} == "$expected" &&
		${lines[2]} == "$expected" ]]
	[[ ${lines[3]} == write,4096,64,20,* && ${lines[4]} == read,* ]]
	run ! grep '^error' <<<"$said"
	[[ $(grep -c '^peer disconnected' <<<"$said") -eq 4 ]]
	[[ $said == *'benchmark: 4096 bytes verified.'* ]]
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

# check_table BYTES COUNT DEPTH: client.log has the table, which is in order.
check_table() {
	grep -qx 'op *bytes depth *count *min us *median *p99 *p99\.9 *max *MB/s *ops/s' \
		"$scratch/client.log" || fail "the table has no heading"
	awk -v bytes="$1" -v count="$2" -v depth="$3" '
		$1 != "write" && $1 != "read" { next }
		NF != 11 || $2 != bytes || $3 != depth || $4 != count ||
			$5 <= 0 || $5 > $6 || $6 > $7 || $7 > $8 || $8 > $9 ||
			$10 < 0 || $11 <= 0 { exit 1 }
		{ ops = ops $1 " " }
		# MB/s is rounded to 0.1, operations to 1.
		$10 - $2 * $11 / 1e6 > 0.06 + $2 / 1e6 { exit 1 }
		$2 * $11 / 1e6 - $10 > 0.06 + $2 / 1e6 { exit 1 }
		END { if (ops != "write read ") exit 1 }' \
		"$scratch/client.log" || fail "the table is wrong"
}

# bench BYTES COUNT DEPTH [ARGUMENT…]: one run; the data was right at both ends.
bench() {
	local bytes=$1 count=$2 depth=$3

	shift 3
	run_client 0 ./client -a "$address" -b "$bytes" -n "$count" \
		-q "$depth" "$@"
	says_nothing client.err
	has_line client.log "^benchmark: $bytes bytes verified\.\$" ||
		fail "the client did not verify what it read"
	await "a server that is done with the client" server_is_done
	[[ $(grep '^benchmark: ' "$scratch/server.log" | tail -n 2) == \
		"benchmark: lending $bytes bytes.
benchmark: $bytes bytes verified." ]] ||
		fail "the server did not verify what was written"
	says_nothing server.err
}

# bench_shapes BYTES COUNT DEPTH…: a benchmark of each.
bench_shapes() {
	start_server ./server write
	while [[ $# -gt 0 ]]; do
		bench "$1" "$2" "$3"
		check_table "$1" "$2" "$3"
		shift 3
	done
	stop_server
}

@test "02: benchmark: one byte, 1 MiB, odd sizes; depth 1 and 1024" {
	FUNCTIONS='bench check_table' on_device a bench_shapes 1 300 1 \
		1 1000 128 64 1 1 65 100 3 4097 100 1024 1048576 5 2
}

bench_without() {
	local list

	start_server ./server read
	for list in selective chains batches inline \
		selective,chains,batches,inline; do
		bench 64 200 32 -w "$list"
		check_table 64 200 32
	done
	stop_server
}

@test "02: benchmark: without each of its four steps, and all of them" {
	FUNCTIONS='bench check_table' on_device a bench_without
}

bench_csv() {
	local number='[0-9]+\.[0-9]'

	start_server ./server write
	bench 512 50 8 -c
	grep -A 2 '^op,' "$scratch/client.log" >"$scratch/table"
	has_line table '^op,bytes,depth,count,min_us,median_us,p99_us,p99\.9_us,max_us,mb_per_s,ops_per_s$' ||
		fail "no heading"
	has_line table "^write,512,8,50(,$number){6},[0-9]+\$" || fail "no write"
	has_line table "^read,512,8,50(,$number){6},[0-9]+\$" || fail "no read"
	! has_line client.log '^op ' || fail "there is an aligned table, too"
	stop_server
}

@test "02: benchmark: comma-separated values" {
	FUNCTIONS=bench on_device a bench_csv
}
