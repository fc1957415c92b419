#!/usr/bin/env bash
# 07_file.sh - chapter 07's three ways to send a file, beside ib_write_bw and TCP
#
# usage: 07_file.sh ADDRESS PAIRS      (bench.sh runs it, where the RDMA device is)
#
# PAIRS times: a file of 64 MiB by send, write and read, in parts of 64 KiB, 64 at
# a time; ib_write_bw with as many bytes in the same pieces; and curl, which fetches
# the file from Python's HTTP server over TCP. Ours and curl read a file and write
# one, both in memory; ours computes a SHA-256 of it at each end, and ib_write_bw
# writes the same memory again and again. Who comes first alternates. Prints a line
# per comparison, as bench.sh describes; progress goes to stderr.
# shellcheck disable=SC2016 # $1 is for awk
set -euo pipefail

# shellcheck source=scripts/lib/bench/lib.bash
source "$(dirname "$0")/lib.bash"
# shellcheck source=scripts/lib/bench/perftest.bash
source "$(dirname "$0")/perftest.bash"
# Parts of 64 KiB, 64 at a time; in /tmp of a lab's node, files are in memory.
bytes=65536 depth=64 count=1024
http=8080

# make_file: in "out"; "in" is for what arrives.
make_file() {
	mkdir "$tmp/out" "$tmp/in"
	head -c $((bytes * count)) /dev/urandom >"$tmp/out/file"
}

# run_ours WAY: sets ours, in MB/s.
run_ours() {
	serve "$top/07_full_speed/server" -1 -a "$address" -t 60 -d "$tmp/in"
	await grep -q '^listening' "$tmp/served"
	timeout "$limit" "$top/07_full_speed/client" -a "$address" -t 60 \
		-b "$bytes" -q "$depth" "$1" "$tmp/out/file" >"$tmp/table" ||
		fail "./client $1: failed"
	end_server
	cmp "$tmp/out/file" "$tmp/in/file" || fail "$1: the copy differs"
	rm "$tmp/in/file"
	# file: stored, 67108864 bytes in SECONDS s, MB/s, SHA-256 …
	ours=$(sed -nE 's/^file: stored, .* ([0-9.]+) MB\/s, .*/\1/p' "$tmp/table")
}

# run_theirs: sets value, in MB/s.
run_theirs() {
	perftest '/^ *[0-9.]+ *$/ { print $1 * 1.048576 }' ib_write_bw \
		-s "$bytes" -n "$count" -t "$depth" --output=bandwidth
}

# Sets tcp, in MB/s.
run_tcp() {
	serve python3 -m http.server --bind "$address" --directory "$tmp/out" \
		"$http"
	await is_listening "$http"
	tcp=$(curl -s -f -o "$tmp/in/file" -w '%{speed_download}' \
		"http://$address:$http/file" | awk '{ print $1 / 1e6 }')
	stop_server
	cmp "$tmp/out/file" "$tmp/in/file" || fail "TCP: the copy differs"
	rm "$tmp/in/file"
}

find_gid
make_file
section 'chapter 07: a file of 64 MiB' ours other
for ((pair = 1; pair <= pairs; pair++)); do
	for way in send write read; do
		echo "07: a file by $way, pair $pair of $pairs" >&2
		if ((pair % 2)); then
			run_ours "$way"
			run_theirs
			run_tcp
		else
			run_tcp
			run_theirs
			run_ours "$way"
		fi
		printf '%s, ib_write_bw\t%s\t%s\tMB/s\t-\n' "$way" "$ours" "$value"
		printf '%s, TCP\t%s\t%s\tMB/s\t-\n' "$way" "$ours" "$tcp"
	done
done
