#!/usr/bin/env bash
# 09.sh - chapter 09's GETs by READ, beside perftest's READs and GETs by SEND
# nodes: 2
#
# usage: 09.sh ADDRESS PAIRS      (bench.sh runs it; the lab is up)
#
# PAIRS times, one after another on the same two nodes: GETs by READ of a bucket (624
# bytes), 1 and 16 under way; ib_read_lat and ib_read_bw with as many bytes, as many under
# way and as many in all; GETs whose values are not looked at; GETs by SEND, to a server
# that sleeps and to one that polls; GETs while the value is put all the time; and
# fetch-and-adds to one counter. Prints a line per comparison, as bench.sh describes;
# progress goes to stderr.
# BENCH_COUNT says how many of each, if not 10000.
set -euo pipefail

# shellcheck source=scripts/lib/bench/lib.bash
source "$(dirname "$0")/lib.bash"
# shellcheck source=scripts/lib/bench/perftest.bash
source "$(dirname "$0")/perftest.bash"
bytes=624 depth=16 count=${BENCH_COUNT:-10000} torn_count=$((10 * count))

# ours OPTIONS-OF-LEND ARGUMENT...: sets rate, each, program, node, torn and puts.
ours() {
	local lend=$1

	shift
	serve_on_a 09_key_value "bench/bench -a $address -t $limit $lend lend"
	on b 09_key_value "bench/bench -a $address -t $limit $*" >"$tmp/table" ||
		fail "bench/bench $*: failed"
	end_server
	read -r rate each program node torn puts < <(
		awk '$1 ~ /^(read|send|add)$/ { print $6, $7, $8, $9, $10, $11 }' \
			"$tmp/table"
	)
}

# theirs COLUMN PROGRAM ARGUMENT...: sets value.
theirs() {
	perftest "\$1 == bytes { print \$$1 }" "${@:2}" -s "$bytes" -n "$count"
}

# least A B: the smaller one; B if there is no A.
least() {
	awk -v a="$1" -v b="$2" 'BEGIN { print a == "" || b + 0 < a + 0 ? b : a }'
}

# line WHAT FIRST SECOND UNIT AIM
line() {
	printf '%s\t%s\t%s\t%s\t%s\n' "$@"
}

find_gid
section 'chapter 09: GETs by READ' READ other
for ((pair = 1; pair <= pairs; pair++)); do
	echo "09: pair $pair of $pairs" >&2
	# What else runs makes an average longer, and never shorter.
	best='' lat='' blind=''
	for _ in 1 2 3 4 5; do
		# The column t_avg.
		theirs 6 ib_read_lat
		lat=$(least "$lat" "$value")
		ours '' -n "$count" -b read
		blind=$(least "$blind" "$each")
		ours '' -n "$count" read
		best=$(least "$best" "$each")
	done
	one=$each
	line 'latency, ib_read_lat' "$best" "$lat" us '<= 1.05'
	line 'latency, not looked at' "$best" "$blind" us -
	# The average of millions of messages a second.
	theirs 5 ib_read_bw -t $depth
	ours '' -n "$count" -q $depth read
	many=$rate many_program=$program many_node=$node
	line 'depth 16, ib_read_bw' "$many" \
		"$(awk -v n="$value" 'BEGIN { print n * 1e6 }')" 1/s '>= 0.95'
	ours '' -n "$count" -q $depth -c 4 read
	line 'chains of 4, none' "$rate" "$many" 1/s -
	ours '' -n "$count" send
	line 'latency, SEND' "$one" "$each" us -
	ours '' -n "$count" -q $depth send
	line 'depth 16, SEND' "$many" "$rate" 1/s -
	line 'node a, SEND' "$many_node" "$node" us -
	line 'its program, SEND' "$many_program" "$program" us -
	ours -P -n "$count" send
	line 'latency, SEND, polls' "$one" "$each" us -
	ours -P -n "$count" -q $depth send
	line 'depth 16, SEND, polls' "$many" "$rate" 1/s -
	ours '' -n "$count" add
	alone=$rate
	for clients in 2 8; do
		ours "-j $clients" -j $clients -n "$count" add
		line "adds: $clients clients, 1" "$rate" "$alone" 1/s -
	done
	ours '' -n "$torn_count" -q $depth -w read
	line 'torn of 10^6; PUTs a READ' "$torn" \
		"$(awk -v n="$puts" -v m="$torn_count" 'BEGIN { print n / m }')" '' none
done
