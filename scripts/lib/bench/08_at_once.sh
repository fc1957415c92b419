#!/usr/bin/env bash
# 08_at_once.sh - thousands of clients: chapter 08's server, and chapter 05's
# nodes: 2
#
# usage: 08_at_once.sh ADDRESS PAIRS      (bench.sh runs it; the lab is up)
#
# PAIRS times, for 100, 1000 and 5000 clients (or those in BENCH_COUNTS), in turn, the
# server of chapter 08 and that of chapter 05:
#
# - all come at once, and everybody waits 10 s for a step, as is the default: how many are
#   served, and when the last one ends. (At most 1000 are on their way: chapter 05 admits
#   1024 strangers of one address.)
# - they take turns, and have all the time they need: when all are connected and have had
#   what they wanted; what memory of node a each costs then; the server's threads and
#   descriptors.
#
# 5000 clients of chapter 05 are 5000 threads on each node, and need 1 GB there:
#
#   LAB_ENGINE=tcg LAB_MEMORY=3000 scripts/bench.sh -p 1 08_at_once
#
# Not by the engine uml: there, a new thread of a program costs as much time as the program
# has memory, since all of it is mapped again.
set -euo pipefail

# shellcheck source=scripts/lib/bench/lib.bash
source "$(dirname "$0")/lib.bash"
# shellcheck source=scripts/lib/bench/stay.bash
source "$(dirname "$0")/stay.bash"

# at_once FOLDER COUNT SERVER JOBS WORD: sets served and seconds.
at_once() {
	local begun

	serve_on_a "$1" "$3"
	begun=$EPOCHREALTIME
	# Its exit status says whether all were served.
	on b "$1" "exec ./load/load -n $2 -j $4 -a $address $5" >"$tmp/report" 2>&1 ||
		true
	seconds=$(seconds_since "$begun")
	served=$(sed -n 's/^[0-9]* connections: \([0-9]*\) served.*/\1/p' \
		"$tmp/report")
	[[ -n $served ]] || fail "load: $(tail -n 3 "$tmp/report")"
	stop_server
}

# line WHAT OURS THEIRS UNIT AIM
line() {
	printf '%s: %s\t%s\t%s\t%s\t%s\n' "$count" "$@"
}

section 'thousands of clients' 'chapter 08' 'chapter 05'
for ((pair = 0; pair < pairs; pair++)); do
	for count in ${BENCH_COUNTS:-100 1000 5000}; do
		echo "08_at_once: $count, pair $((pair + 1)) of $pairs" >&2
		jobs=$((count < 1000 ? count : 1000))
		at_once 08_event_loop "$count" ./server "$jobs" '-N 1'
		ours=("$served" "$seconds")
		at_once 05_multiclient "$count" \
			"./server -G 0 -m $count write" "$jobs" write
		line 'served, of all at once' "${ours[0]}" "$served" '' '>='
		line 'until the last ended' "${ours[1]}" "$seconds" s -
		stay 08_event_loop "$count" './server -t 1000' ''
		ours=("$seconds" "$memory" "$threads" "$descriptors")
		stay 05_multiclient "$count" \
			"./server -t 1000 -G 0 -m $count write" write
		line 'until all stay' "${ours[0]}" "$seconds" s '<='
		line 'memory of one' "${ours[1]}" "$memory" kB '<='
		line threads "${ours[2]}" "$threads" '' '<='
		line descriptors "${ours[3]}" "$descriptors" '' '<='
	done
done
