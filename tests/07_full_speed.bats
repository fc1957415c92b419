#!/usr/bin/env bats
#
# 07_full_speed.bats - chapter 07 when all goes well: the logged runs, the benchmark
# shellcheck disable=SC2154 # the variables of on_device.bash

bats_require_minimum_version 1.5.0
load helpers
CHAPTER=07_full_speed

setup_file() {
	open_device
	build_chapter "$CHAPTER"
	build_sanitized "$CHAPTER"
}

teardown_file() {
	close_device
}

@test "07: every logged run can be had again" {
	assert_runs_match "$CHAPTER"
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

@test "07: benchmark: one byte, 1 MiB, odd sizes; depth 1 and 1024" {
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

@test "07: benchmark: without each of its four steps, and all of them" {
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

@test "07: benchmark: comma-separated values" {
	FUNCTIONS=bench on_device a bench_csv
}

@test "07: a benchmark, with AddressSanitizer and UBSan" {
	FUNCTIONS='bench check_table' on_device -s a bench_shapes 64 20 4
}

# On node b.
bench_there() {
	run_client 0 ./client -a a -n 20 -c
	says_nothing client.err
	grep -E '^(write|read),' "$scratch/client.log"
}

@test "07: a benchmark between two nodes" {
	local said

	between_nodes 'serve_until_eof ./server write' bench_there
	[[ ${lines[0]} == write,4096,64,20,* && ${lines[1]} == read,* ]]
	[[ $said == *'benchmark: 4096 bytes verified.'* ]]
}
