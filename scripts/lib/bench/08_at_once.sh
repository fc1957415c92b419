#!/usr/bin/env bash
# 08_at_once.sh - clients that all come at once: chapter 08's server, and chapter 05's
# nodes: 2
#
# usage: 08_at_once.sh ADDRESS PAIRS      (bench.sh runs it; the lab is up)
#
# PAIRS times, for 100 and 1000 clients, in turn, the server of chapter 08 and that of
# chapter 05: all come at once, and everybody waits 10 s for a step, as is the default.
# How many are served, and when has the last one ended? 1000 clients of chapter 05 are as
# many threads on each node:
#
#   LAB_ENGINE=tcg LAB_MEMORY=2000 scripts/bench.sh -p 1 08_at_once
#
# Not by the engine uml: there, a new thread of a program costs as much time as the program
# has memory, since all of it is mapped again.
set -euo pipefail

# shellcheck source=scripts/lib/bench/lib.bash
source "$(dirname "$0")/lib.bash"

# at_once FOLDER SERVER WORD: sets served and seconds.
at_once() {
	local begun

	serve_on_a "$1" "$2"
	begun=$EPOCHREALTIME
	# Its exit status says whether all were served.
	on b "$1" "exec ./load/load -n $count -j $count -a $address $3" \
		>"$tmp/report" 2>&1 || true
	seconds=$(awk -v a="$begun" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }')
	served=$(sed -n 's/^[0-9]* connections: \([0-9]*\) served.*/\1/p' \
		"$tmp/report")
	[[ -n $served ]] || fail "load: $(tail -n 3 "$tmp/report")"
	stop_server
}

section 'clients at once' 'chapter 08' 'chapter 05'
for ((pair = 0; pair < pairs; pair++)); do
	for count in 100 1000; do
		at_once 08_event_loop ./server '-N 1'
		ours=$served ours_seconds=$seconds
		at_once 05_multiclient "./server -G 0 -m $count write" write
		printf '%s: served\t%s\t%s\t\t>=\n' "$count" "$ours" "$served"
		printf '%s: until the last ended\t%s\t%s\ts\t-\n' \
			"$count" "$ours_seconds" "$seconds"
	done
done
