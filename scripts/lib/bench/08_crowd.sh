#!/usr/bin/env bash
# 08_crowd.sh - what more connections cost chapter 08's server
# nodes: 2
#
# usage: 08_crowd.sh ADDRESS PAIRS      (bench.sh runs it; the lab is up)
#
# PAIRS times, for 100, 1000 and 10000 connections: that many, and 10, in turn,
# with 8 messages of 1024 bytes under way at a time, 20000 in all. Of each: echoes in a
# second, and the times until the echo.
set -euo pipefail

# shellcheck source=scripts/lib/bench/lib.bash
source "$(dirname "$0")/lib.bash"
names=('' 'connected a second' 'echoes a second' 'p50 until the echo'
	'p99 until the echo' 'p99.9 until the echo')
units=('' 1/s 1/s us us us)

# run COUNT: sets values, as the names have them.
run() {
	serve_on_a 08_event_loop './server -t 60'
	on b 08_event_loop "./load/load -n $1 -N $((20000 / $1)) -q 8 -t 60 -c -a $address" \
		>"$tmp/report" 2>&1 ||
		fail "load: $(tail -n 3 "$tmp/report")"
	IFS=, read -ra values < <(grep -A 1 '^connections,' "$tmp/report" |
		tail -n 1 | cut -d , -f 1,4-)
	stop_server
}

section 'more connections' more 10
for ((pair = 0; pair < pairs; pair++)); do
	for count in 100 1000 10000; do
		run 10
		ten=("${values[@]}")
		run "$count"
		for i in 1 2 3 4 5; do
			printf '%s: %s\t%s\t%s\t%s\t-\n' "$count" "${names[i]}" \
				"${values[i]}" "${ten[i]}" "${units[i]}"
		done
	done
done
