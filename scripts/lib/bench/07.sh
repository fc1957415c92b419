#!/usr/bin/env bash
# 07.sh - chapter 07's benchmark and perftest's, one after the other
#
# usage: 07.sh ADDRESS PAIRS      (bench.sh runs it, where the RDMA device is)
#
# For each size, PAIRS times: our writes and reads at depth 1 and 128, and
# ib_write_bw, ib_read_bw and ib_read_lat with the same counts, device and GID;
# which one comes first alternates. Prints a line per comparison, as bench.sh
# describes; progress goes to stderr.
#
# hosts: yes
# shellcheck disable=SC2016 # $1 is for awk
set -euo pipefail

# shellcheck source=scripts/lib/bench/lib.bash
source "$(dirname "$0")/lib.bash"
# shellcheck source=scripts/lib/bench/perftest.bash
source "$(dirname "$0")/perftest.bash"
depths=(1 128)
# Bytes and operations: about as long for every size.
sizes=("64 20000" "4096 5000" "65536 500" "1048576 30")

run_ours() {
	client_07 "$address" -b "$bytes" -n "$count" -q "$depth"
	ours_write=$(column write mb_per_s)
	ours_read=$(column read mb_per_s)
	ours_latency=$(column read median_us)
}

# Its MB are 2^20 bytes, ours 10^6.
run_theirs() {
	local bw=(-s "$bytes" -n "$count" -t "$depth" --output=bandwidth)
	local number='/^ *[0-9.]+ *$/ { print $1 * 1.048576 }'

	perftest "$number" ib_write_bw "${bw[@]}"
	their_write=$value
	perftest "$number" ib_read_bw "${bw[@]}"
	their_read=$value
	[[ $depth -eq 1 ]] || return 0
	# The column t_typical is the median.
	perftest '$1 == bytes { print $5 }' ib_read_lat -s "$bytes" -n "$count"
	their_latency=$value
}

report() {
	local what="$bytes B, depth $depth"

	printf 'write, %s\t%s\t%s\tMB/s\t>=\n' \
		"$what" "$ours_write" "$their_write"
	printf 'read, %s\t%s\t%s\tMB/s\t>=\n' \
		"$what" "$ours_read" "$their_read"
	[[ $depth -ne 1 ]] || printf 'read latency, %s B\t%s\t%s\tus\t<=\n' \
		"$bytes" "$ours_latency" "$their_latency"
}

find_gid
section 'chapter 07 and perftest' ours perftest
for size in "${sizes[@]}"; do
	read -r bytes count <<<"$size"
	for ((pair = 1; pair <= pairs; pair++)); do
		echo "07: $bytes bytes, pair $pair of $pairs" >&2
		for depth in "${depths[@]}"; do
			if ((pair % 2)); then
				run_ours
				run_theirs
			else
				run_theirs
				run_ours
			fi
			report
		done
	done
done
