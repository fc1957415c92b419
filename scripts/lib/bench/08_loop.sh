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
# Chapter 05's handshakes take a while, and there are a thousand of them.
limit=1500

# In KiB, of node a, without what the kernel can give back.
used() {
	on a . "awk '/^MemTotal/ { n = \$2 } /^MemAvailable/ { n -= \$2 }
		END { print n }' /proc/meminfo"
}

# All clients are connected and have had what they wanted, and stay.
all_stay() {
	! grep -q 'error: ' "$tmp/report" ||
		fail "load: $(grep -m 3 'error: ' "$tmp/report")"
	case $folder in
	05*) [[ $(grep -c 'holding the connection' "$tmp/report") -eq $count ]] ;;
	*) grep -q ' are held\.$' "$tmp/report" ;;
	esac
}

# stay FOLDER SERVER WORD: sets memory (of node a, in kB a client) and threads (of the
# server).
stay() {
	local before after load

	folder=$1
	: >"$tmp/report"
	serve_on_a "$folder" "$2"
	before=$(used)
	on b "$folder" "exec ./load/load -n $count -t 1000 -w 3600 -a $address $3" \
		>"$tmp/report" 2>&1 &
	load=$!
	await all_stay
	after=$(used)
	memory=$(awk -v n="$count" -v kb="$((after - before))" \
		'BEGIN { printf "%.1f", kb / n }')
	threads=$(on a . "awk '/^Threads/ { print \$2 }' /proc/\$(pidof server)/status")
	stop_server
	wait "$load" || true
}

section '08 and 05' 'chapter 08' 'chapter 05'
for ((pair = 0; pair < pairs; pair++)); do
	for count in 10 100 1000; do
		stay 08_event_loop './server -t 1000' ''
		ours=$memory ours_threads=$threads
		# A thousand threads on one processor keep a peer waiting for more than
		# the half second after which a queue pair would give up.
		stay 05_multiclient \
			'./server -t 1000 -G 0 -m 1000 -E 18 write' '-E 18 write'
		printf '%s clients: of one\t%s\t%s\tkB\t<=\n' \
			"$count" "$ours" "$memory"
		printf '%s clients: threads\t%s\t%s\t\t<=\n' \
			"$count" "$ours_threads" "$threads"
	done
done
