#!/usr/bin/env bash
# 06.sh - RDS, and what it is built on, between two nodes of the lab
# nodes: 2
#
# usage: 06.sh ADDRESS PAIRS      (bench.sh runs it; the lab is up)
#
# PAIRS times, one after another on the same two nodes: chapter 06's benchmark
# over ib and SEND/receive of perftest (what chapter 01 does once); chapter 06's
# over tcp and plain TCP of qperf. Round trips of one message at a time, and
# messages per second, with as many at a time as fit. perftest and qperf report
# half a round trip, which is doubled. Prints a line per comparison, as bench.sh
# describes; progress goes to stderr.
set -euo pipefail

# shellcheck source=scripts/lib/bench/lib.bash
source "$(dirname "$0")/lib.bash"
sizes=(64 4096)
count=300

# rds TRANSPORT: sets ping (us) and rate (messages/s) of chapter 06.
rds() {
	serve_on_a 06_rds "./server -1 -a $address -T $1"
	on b 06_rds "./load/load -a $address -T $1 -n $count -s $bytes" \
		>"$tmp/table" || fail "06: load/load over $1 failed"
	end_server
	ping=$(column ping median_us)
	rate=$(column flood ops_per_s)
}

# send_recv: sets ping and rate of SEND and receive, by perftest.
send_recv() {
	# -e: it sleeps until something comes, as RDS does; its server, now and
	# then, for ever, when the client is long done.
	local common="-F -e -x 1 -p 18515 -s $bytes -n $count"

	serve_on_a . "ib_send_lat $common" 18515
	ping=$(on b . "ib_send_lat $common $address" |
		awk -v bytes="$bytes" '$1 == bytes { print 2 * $5 }')
	stop_server
	serve_on_a . "ib_send_bw $common" 18515
	# The fifth column is millions of messages per second.
	rate=$(on b . "ib_send_bw $common $address" |
		awk -v bytes="$bytes" '$1 == bytes { print 1000000 * $5 }')
	stop_server
}

# plain_tcp: sets ping and rate of a TCP connection, by qperf.
plain_tcp() {
	local said

	serve_on_a . qperf 19765
	said=$(on b . "qperf -uu -t 1 -m $bytes $address tcp_lat tcp_bw")
	on b . "qperf $address quit" >/dev/null
	end_server
	ping=$(awk '$1 == "latency" { print 2 * $3 / 1000 }' <<<"$said")
	rate=$(awk -v bytes="$bytes" '$1 == "bw" { print $3 / bytes }' \
		<<<"$said")
}

# compare TRANSPORT FUNCTION
compare() {
	local rds_ping rds_rate

	rds "$1"
	rds_ping=$ping rds_rate=$rate
	"$2"
	printf '%s\t%s\t%s\t%s\t-\n' \
		"$1 $bytes B, round trip" "$rds_ping" "$ping" us \
		"$1 $bytes B, messages" "$rds_rate" "$rate" /s
}

for name in a b; do
	on $name . scripts/setup_rds.sh >&2
done
section 'RDS and what is beneath' RDS beneath
for bytes in "${sizes[@]}"; do
	for ((pair = 1; pair <= pairs; pair++)); do
		echo "06: $bytes bytes, pair $pair of $pairs" >&2
		compare ib send_recv
		compare tcp plain_tcp
	done
done
