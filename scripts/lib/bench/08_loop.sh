#!/usr/bin/env bash
# 08_loop.sh - chapter 08's server beside chapter 05's, with as many clients
# nodes: 2
#
# usage: 08_loop.sh ADDRESS PAIRS      (bench.sh runs it; the lab is up)
#
# PAIRS times, for 10, 100 and 1000 clients that are connected at the same time, in
# turn: the server of chapter 08 and its load, and those of chapter 05. Of each: what
# memory of node a one client costs, in the server and the kernel, and how many threads
# the server has.
set -euo pipefail

# shellcheck source=scripts/lib/bench/lib.bash
source "$(dirname "$0")/lib.bash"
address=$1
pairs=$2
# A thousand handshakes of chapter 05 at once take three minutes of a node.
limit=${BENCH_LIMIT:-1500}

node() {
	timeout "$limit" "$top/scripts/lab.sh" exec "$1" -- \
		bash -c "cd '$top/$folder' && $2" </dev/null
}

# In KiB, of node a, without what the kernel can give back.
used() {
	node a "awk '/^MemTotal/ { n = \$2 } /^MemAvailable/ { n -= \$2 }
		END { print n }' /proc/meminfo"
}

# All clients are connected and have had what they wanted, and stay.
all_stay() {
	case $folder in
	05*) [[ $(grep -c 'holding the connection' "$tmp/report") -eq $count ]] ;;
	*) grep -q ' are held\.$' "$tmp/report" ;;
	esac
}

# run FOLDER COUNT SERVER WORD: sets memory, in kB, and threads.
run() {
	local before after load

	folder=$1 count=$2
	: >"$tmp/report"
	serve "$top/scripts/lab.sh" exec a -- \
		bash -c "cd '$top/$folder' && exec $3"
	await grep -q '^listening' "$tmp/served"
	before=$(used)
	node b "exec ./load/load -n $count -t 1000 -w 3600 -a $address $4" \
		>"$tmp/report" 2>&1 &
	load=$!
	await all_stay
	after=$(used)
	memory=$(awk -v n="$count" -v kb="$((after - before))" \
		'BEGIN { printf "%.1f", kb / n }')
	threads=$(node a "awk '/^Threads/ { print \$2 }' /proc/\$(pidof server)/status")
	stop_server
	wait "$load" || true
}

section '08 and 05' 'chapter 08' 'chapter 05'
for ((pair = 0; pair < pairs; pair++)); do
	for count in 10 100 1000; do
		run 08_event_loop "$count" './server -t 1000' sum
		ours=$memory ours_threads=$threads
		run 05_multiclient "$count" './server -t 1000 -G 0 -m 1000 write' write
		printf '%s clients: of one\t%s\t%s\tkB\t<=\n' \
			"$count" "$ours" "$memory"
		printf '%s clients: threads\t%s\t%s\t\t<=\n' \
			"$count" "$ours_threads" "$threads"
	done
done
