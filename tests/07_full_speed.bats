#!/usr/bin/env bats
#
# 07_full_speed.bats - chapter 07 when all goes well: files each of the three ways,
# credits, and the benchmark
# shellcheck disable=SC2154 # the variables of on_device.bash

load helpers
load says
CHAPTER=07_full_speed

setup_file() {
	open_device
	build_chapter "$CHAPTER"
	build_sanitized "$CHAPTER"
}

# rnr: sets count, how often a device here was not ready, or met one that was not.
rnr() {
	count=$(rdma statistic show link rxe0/1 |
		grep -oE '(rcvd|send)_rnr_err [0-9]+' |
		awk '{ n += $2 } END { print n + 0 }')
}

# make_files: an empty one, a small one, and some that are no whole number of parts.
make_files() {
	mkdir -p "$scratch/out" "$scratch/in"
	: >"$scratch/out/empty"
	echo small >"$scratch/out/a name with blanks"
	head -c 65536 /dev/urandom >"$scratch/out/one part"
	head -c 1000001 /dev/urandom >"$scratch/out/many"
}

# arrives ARGUMENT…: all of them do, whole, and nothing else; and no receiver was
# ever not ready.
arrives() {
	local before file

	rm -rf "$scratch/in"
	mkdir "$scratch/in"
	rnr
	before=$count
	start_server ./server -1 -d "$scratch/in"
	run_client 0 ./client -a "$address" "$@" "$scratch"/out/*
	says_nothing client.err
	end_of server "$server" 0
	server=''
	says_nothing server.err
	for file in "$scratch"/out/*; do
		cmp "$file" "$scratch/in/${file##*/}" ||
			fail "${file##*/} did not arrive as it is"
	done
	[[ $(ls -A "$scratch/in") == "$(ls -A "$scratch/out")" ]] ||
		fail "there is more than was sent: $(ls -A "$scratch/in")"
	rnr
	[[ $count -eq $before ]] || fail "a receiver was not ready"
}

files_arrive() {
	local way

	make_files
	for way in send write read; do
		arrives "$way"
		arrives -q 4 "$way"
		arrives -q 5 -b 1000 "$way"
		arrives -q 1024 -b 4096 "$way"
	done
}

@test "07: files by send, write and read: whole, and no RNR" {
	FUNCTIONS='rnr make_files arrives' on_device a files_arrive
}

sanitized_files() {
	local way

	make_files
	for way in send write read; do
		arrives -q 8 -b 4096 "$way"
	done
}

@test "07: the same, with AddressSanitizer and UBSan" {
	FUNCTIONS='rnr make_files arrives' on_device -s a sanitized_files
}

# The server stops in the middle, for longer than it takes to use up all credits.
slow_receiver() {
	local way before

	make_files
	head -c 3000000 /dev/urandom >"$scratch/out/more"
	for way in send write read; do
		rnr
		before=$count
		at 'ibv_post_recv 40' stop
		start_server "${at[@]}" ./server -1 -d "$scratch/in"
		start_client ./client -a "$address" -c -q 8 -b 16384 "$way" \
			"$scratch/out/more"
		await "a server that stops in the middle" state "$server" T
		await "a client that waits for it" state "$client" S
		read -rt 1 -u "$silence" || true
		kill -CONT "$server"
		end_client 0
		says_nothing client.err
		end_of server "$server" 0
		server=''
		cmp "$scratch/out/more" "$scratch/in/more" || fail "not the same"
		rm "$scratch/in/more"
		rnr
		[[ $count -eq $before ]] || fail "the receiver was not ready"
		[[ $(sed -n 's/^more,.*,//p' "$scratch/client.log") -gt 0 ]] ||
			fail "the client never waited for credits"
	done
}

@test "07: a slow receiver is waited for, and never overrun" {
	FUNCTIONS='rnr make_files' on_device a slow_receiver
}

files_csv() {
	make_files
	start_server ./server -1 -d "$scratch/in"
	run_client 0 ./client -a "$address" -c read "$scratch/out/many"
	has_line client.log '^many,1000001,read,64,65536,[0-9]+\.[0-9]{3},[0-9]+\.[0-9],[0-9]+$' ||
		fail "no line of values"
	end_of server "$server" 0
	server=''
}

@test "07: files: comma-separated values" {
	FUNCTIONS=make_files on_device a files_csv
}

# check_table BYTES COUNT DEPTH: client.log has the table, which is in order.
check_table() {
	grep -qx 'op *bytes depth *count *min us *median *p99 *p99\.9 *max *MB/s *ops/s' \
		"$scratch/client.log" || fail "the table has no heading"
	awk -v bytes="$1" -v count="$2" -v depth="$3" '
		$1 != "write" && $1 != "read" && $1 != "send" { next }
		# The second table: half of the median, and more.
		NF == 3 { if ($2 - median[$1] / 2 > 0.11 ||
				median[$1] / 2 - $2 > 0.11 || $3 < 0) exit 1
			more = more $1 " "
			next }
		{ median[$1] = $6 }
		NF != 11 || $2 != bytes || $3 != depth || $4 != count ||
			$5 <= 0 || $5 > $6 || $6 > $7 || $7 > $8 || $8 > $9 ||
			$10 < 0 || $11 <= 0 { exit 1 }
		{ ops = ops $1 " " }
		# MB/s is rounded to 0.1, operations to 1.
		$10 - $2 * $11 / 1e6 > 0.06 + $2 / 1e6 { exit 1 }
		$2 * $11 / 1e6 - $10 > 0.06 + $2 / 1e6 { exit 1 }
		END { if (ops != "write read send " || more != ops) exit 1 }' \
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
	grep -qx 'benchmark: at most [1-9][0-9]* reads at a time, as was agreed; the device can do [1-9][0-9]*\.' \
		"$scratch/client.log" || fail "no word of how many reads"
	await "a server that is done with the client" server_is_done
	[[ $(grep '^benchmark: ' "$scratch/server.log" | tail -n 3) == \
		"benchmark: lending $bytes bytes.
benchmark: $bytes bytes verified.
benchmark: $bytes bytes verified." ]] ||
		fail "the server did not verify what was written and sent"
	says_nothing server.err
}

# bench_shapes BYTES COUNT DEPTH…: a benchmark of each.
bench_shapes() {
	start_server ./server -B
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

	start_server ./server -B
	for list in selective chains batches inline \
		selective,chains,batches,inline; do
		bench 64 200 32 -W "$list"
		check_table 64 200 32
	done
	stop_server
}

@test "07: benchmark: without each of its four steps, and all of them" {
	FUNCTIONS='bench check_table' on_device a bench_without
}

bench_csv() {
	local number='[0-9]+\.[0-9]'

	start_server ./server -B
	bench 512 50 8 -c
	grep -A 2 '^op,' "$scratch/client.log" >"$scratch/table"
	has_line table '^op,bytes,depth,count,min_us,median_us,p99_us,p99\.9_us,max_us,mb_per_s,ops_per_s$' ||
		fail "no heading"
	has_line table "^write,512,8,50(,$number){6},[0-9]+\$" || fail "no write"
	has_line table "^read,512,8,50(,$number){6},[0-9]+\$" || fail "no read"
	grep -A 3 '^op,half' "$scratch/client.log" >"$scratch/more"
	has_line more '^op,half_us,cpu_per_gb_s$' || fail "no second heading"
	has_line more "^send,$number,[0-9]+\.[0-9]{2}\$" || fail "no send"
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

	between_nodes 'serve_until_eof ./server -B' bench_there
	[[ ${lines[0]} == write,4096,64,20,* && ${lines[1]} == read,* ]]
	[[ $said == *'benchmark: 4096 bytes verified.'* ]]
}

# It takes several times as long as -t, at either end.
bench_long() {
	start_server ./server -B -t 1
	run_client 0 ./client -t 1 -a "$address" -b 4096 -n 12000 -q 4
	has_line client.log '^read +4096 +4 +12000 ' || fail "it has no table"
	says_nothing server.err
	stop_server
}

@test "07: a benchmark that takes longer than -t has its table" {
	on_device a bench_long
}

# Signs of life go out while what was posted before them takes long: with inline data
# and, where the device is asked for none, without.
bench_beats() {
	local copy

	for copy in "$build" "$build.bare"; do
		start_server ./server -B -t 20
		run_client 0 env "LD_PRELOAD=$build/../in_flight.so" "$copy/client" \
			-t 20 -a "$address" -b 8388608 -n 8 -q 8
		says_nothing client.err
		stop_server
	done
}

@test "07: a sign of life is not changed while the device may still read it" {
	local copy=$top/build/tests/$CHAPTER.plain.bare

	chapter_update "$top/$CHAPTER" "$copy"
	edit "$copy/conn.h" 's/^#define CONN_INLINE .*/#define CONN_INLINE 0/'
	make -s -C "$copy" client
	build_preloaded tests/in_flight
	on_device a bench_beats
}
