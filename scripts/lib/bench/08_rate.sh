#!/usr/bin/env bash
# 08_rate.sh - how fast chapter 08 connects and answers, beside chapters 05 and 07
# nodes: 2
#
# usage: 08_rate.sh ADDRESS PAIRS      (bench.sh runs it; the lab is up)
#
# PAIRS times, with each server on node a and its clients on node b, one after another:
#
# - connections, each from beginning to end, one at a time: chapter 08's (with one
#   request), chapter 05's (with one write), and OpenSSL's, with the certificates of 05
#   and nothing after the handshake. 05 cannot do without TLS: what is left of the time of
#   one of its connections without that of one of OpenSSL's is taken for it. The same of
#   the processors' time that both nodes have used, as the machine counts it on which they
#   run: other programs there take none of that.
# - answers to requests of 1024 bytes: of 64 connections with one request each under way,
#   beside chapter 07's SENDs of as many bytes, 64 at a time on one connection. There, one
#   message comes back for every sixteen; here, one for each. So their messages, both
#   ways, are compared as well: each is posted by a call of its own in both chapters.
# - the times until the answer, of 64 connections and of one with one request at a time.
#
# Prints a line per comparison, as bench.sh describes; progress goes to stderr.
set -euo pipefail

# shellcheck source=scripts/lib/bench/lib.bash
source "$(dirname "$0")/lib.bash"
address=$1
pairs=$2
connections=${BENCH_CONNECTIONS:-400}
requests=${BENCH_REQUESTS:-32000}
seconds=${BENCH_SECONDS:-5}

# crowd COUNT ARGUMENT…: chapter 08's load; its values go to the array values.
crowd() {
	on b 08_event_loop "exec ./load/load -n $1 -t 60 -c -a $address ${*:2} sum" \
		>"$tmp/report" || fail "08's load: $(tail -n 3 "$tmp/report")"
	# Connections, requests, bytes; connections and requests a second; the times.
	IFS=, read -ra values < <(grep -A 1 '^connections,' "$tmp/report" |
		tail -n 1)
}

# ms COMMAND…: sets took, how long that took.
ms() {
	local begin=${EPOCHREALTIME/./}

	"$@"
	took=$(((${EPOCHREALTIME/./} - begin) / 1000))
}

# cpu: what both nodes have used of this machine's processors, in ms.
cpu() {
	local nodes

	nodes=$("$top/scripts/lab.sh" status |
		sed -n 's/^node .*process \([0-9]*\)$/\1/p')
	# Processes end meanwhile. One may be named ") 1 (".
	{ cat /proc/[0-9]*/stat 2>/dev/null || true; } | sed 's/(.*)/-/' |
		awk -v nodes="$nodes" -v hz="$(getconf CLK_TCK)" '
		{ parent[$1] = $4; ticks[$1] = $14 + $15 + $16 + $17 }
		END {
			split(nodes, list)
			for (i in list)
				is_node[list[i]]
			for (pid in ticks) {
				for (up = pid; up in parent; up = parent[up])
					if (up in is_node) {
						sum += ticks[pid]
						break
					}
			}
			print 1000 * sum / hz
		}'
}

# spent COMMAND…: sets took, how long that took, and used, by both nodes' processors.
spent() {
	local before

	before=$(cpu)
	ms "$@"
	used=$(($(cpu) - before))
}

# each MS [COUNT]: for one of so many connections.
each() {
	awk -v ms="$1" -v n="${2:-$connections}" 'BEGIN { printf "%.2f", ms / n }'
}

# Connections of chapter 08 in a second, from their begin to their end.
connects_08() {
	local few few_used

	serve_on_a 08_event_loop './server -t 60'
	crowd 1 -j 1 -N 1
	spent crowd 1 -j 1 -N 1
	few=$took few_used=$used
	spent crowd $((connections + 1)) -j 1 -N 1
	rate_08=$(rate $((took - few)))
	cpu_08=$(each $((used - few_used)))
	stop_server
}

# rate MS: connections per second, if all of them took MS milliseconds.
rate() {
	awk -v n="$connections" -v ms="$1" 'BEGIN { printf "%.1f", 1000 * n / ms }'
}

connects_05() {
	serve_on_a 05_multiclient "./server -t 60 -e $connections write"
	spent on b 05_multiclient \
		"exec ./load/load -a $address -t 60 -n 1 -N $connections write" \
		>"$tmp/report" || fail "05's load: $(tail -n 3 "$tmp/report")"
	end_server
	rate_05=$(sed -n 's/^.* s, \([0-9.]*\) connections\/s$/\1/p' "$tmp/report")
	cpu_05=$(each "$used")
}

connects_tls() {
	serve_on_a 05_multiclient "openssl s_server -accept 4433 -tls1_3 -quiet \
		-num_tickets 0 -cert certs/server.pem -key certs/server.key \
		-CAfile certs/ca.pem -Verify 1 -verify_return_error" 4433
	spent on b 05_multiclient "openssl s_time -connect $address:4433 -tls1_3 -new \
		-time $seconds -cert certs/client.pem -key certs/client.key \
		-CAfile certs/ca.pem -verify 1" >"$tmp/report" 2>&1 ||
		fail "openssl s_time: $(tail -n 3 "$tmp/report")"
	stop_server
	rate_tls=$(awk '/ real seconds/ { print $1 / $4 }' "$tmp/report")
	[[ -n $rate_tls ]] || fail "openssl s_time: $(cat "$tmp/report")"
	cpu_tls=$(each "$used" "$(awk '/ real seconds/ { print $1 }' \
		"$tmp/report")")
}

# In 05 without TLS: the rate of what is left of the time of one connection.
less_tls() {
	awk -v all="$rate_05" -v tls="$rate_tls" -v times="$1" \
		'BEGIN { printf "%.1f", times / (1 / all - 1 / tls) }'
}

# cpu_less_tls PART: of what is left of 05's processors' time without TLS, one in PART.
cpu_less_tls() {
	awk -v all="$cpu_05" -v tls="$cpu_tls" -v part="$1" \
		'BEGIN { printf "%.2f", (all - tls) / part }'
}

answers_08() {
	serve_on_a 08_event_loop './server -t 60'
	crowd 1 -q 1 -N 500
	alone=("${values[@]}")
	crowd 64 -q 64 -N $((requests / 64))
	stop_server
}

bench_07() {
	serve_on_a 07_full_speed "./server -1 -B -a $address -t 60"
	on b 07_full_speed \
		"exec ./client -a $address -t 60 -c -b 1024 -n $requests -q 64" \
		>"$tmp/table" || fail "07's client failed"
	end_server
}

rates_07() {
	bench_07
	sends=$(column send ops_per_s)
}

# times NUMBER RATE
times() {
	awk -v n="$1" -v rate="$2" 'BEGIN { printf "%.0f", n * rate }'
}

section 'how fast chapter 08 is' 'chapter 08' other
for ((pair = 1; pair <= pairs; pair++)); do
	echo "08_rate: pair $pair of $pairs" >&2
	connects_08
	connects_05
	connects_tls
	answers_08
	rates_07
	printf '%s\t%s\t%s\tms\t%s\n' \
		'processor of one, 05 TLS' "$cpu_08" "$cpu_05" - \
		'processor, 05 less TLS' "$cpu_08" "$(cpu_less_tls 1)" - \
		'processor, half of that' "$cpu_08" "$(cpu_less_tls 2)" '<='
	printf '%s\t%s\t%s\t1/s\t%s\n' \
		'connects, 05 with TLS' "$rate_08" "$rate_05" - \
		'connects, 05 less TLS' "$rate_08" "$(less_tls 1)" - \
		'connects, twice that' "$rate_08" "$(less_tls 2)" '>=' \
		"answers, 07's SENDs" "${values[4]}" "$sends" - \
		'answers, 0.9 of these' "${values[4]}" "$(times 0.9 "$sends")" '>=' \
		"messages, 07's" "$(times 2 "${values[4]}")" \
		"$(times 1.0625 "$sends")" - \
		'messages, 0.9 of these' "$(times 2 "${values[4]}")" \
		"$(times 0.95625 "$sends")" '>='
	for i in 5 6 7; do
		printf '%s of 64 clients, of 1\t%s\t%s\tus\t-\n' \
			"$(cut -d ' ' -f $((i - 4)) <<<'p50 p99 p99.9')" \
			"${values[i]}" "${alone[i]}"
	done
done
