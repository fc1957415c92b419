#!/usr/bin/env bash
# 05.sh - chapter 05's connections in a second, and openssl's
#
# usage: 05.sh ADDRESS PAIRS      (bench.sh runs it, where the RDMA device is)
#
# PAIRS times, in turn: our client and server, each connection with certificates
# on both sides, a queue pair at each end, and 1024 bytes each way; and `openssl
# s_time` with `openssl s_server`, the same certificates, TLS 1.3 and nothing
# after the handshake. Prints a line per comparison, as bench.sh describes;
# progress goes to stderr.
set -euo pipefail

# shellcheck source=scripts/lib/bench/lib.bash
source "$(dirname "$0")/lib.bash"
port=4433
count=200
seconds=5
cd "$top/05_multiclient"

# run_ours AT_A_TIME: sets ours, connections in a second.
run_ours() {
	serve ./server -t 60 -e "$count" write
	await grep -q '^listening' "$tmp/served"
	timeout "$limit" ./load/load -a "$address" -t 60 -n "$1" \
		-N $((count / $1)) write >"$tmp/report" 2>&1 ||
		fail "./load/load: $(tail -n 3 "$tmp/report")"
	end_server
	ours=$(sed -n 's/^.* s, \([0-9.]*\) connections\/s$/\1/p' "$tmp/report")
	[[ -n $ours ]] || fail "./load/load said no rate"
}

# Sets theirs, of the real time and not of the processor's.
run_theirs() {
	serve openssl s_server -accept "$port" -tls1_3 -quiet -num_tickets 0 \
		-cert certs/server.pem -key certs/server.key \
		-CAfile certs/ca.pem -Verify 1 -verify_return_error
	await is_listening "$port"
	openssl s_time -connect "$address:$port" -tls1_3 -new \
		-time "$seconds" -cert certs/client.pem \
		-key certs/client.key -CAfile certs/ca.pem -verify 1 \
		>"$tmp/report" 2>&1 ||
		fail "openssl s_time: $(tail -n 3 "$tmp/report")"
	kill "$server"
	wait "$server" || true
	server=''
	theirs=$(awk '/ real seconds/ { print $1 / $4 }' "$tmp/report")
	[[ -n $theirs ]] || fail "openssl s_time: $(cat "$tmp/report")"
}

section 'chapter 05 and openssl s_time' ours s_time
for ((pair = 1; pair <= pairs; pair++)); do
	echo "05: pair $pair of $pairs" >&2
	if ((pair % 2)); then
		run_theirs
	fi
	for at_a_time in 1 8; do
		run_ours "$at_a_time"
		rates[at_a_time]=$ours
	done
	if ((pair % 2 == 0)); then
		run_theirs
	fi
	printf 'connections, 1 at a time\t%s\t%s\t1/s\t-\n' \
		"${rates[1]}" "$theirs"
	printf 'connections, 8 at a time\t%s\t%s\t1/s\t-\n' \
		"${rates[8]}" "$theirs"
done
