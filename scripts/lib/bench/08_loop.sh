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
# shellcheck source=scripts/lib/bench/stay.bash
source "$(dirname "$0")/stay.bash"

section '08 and 05' 'chapter 08' 'chapter 05'
for ((pair = 0; pair < pairs; pair++)); do
	for count in 10 100 1000; do
		stay 08_event_loop "$count" './server -t 1000' ''
		ours=$memory ours_threads=$threads
		# A thousand threads on one processor keep a peer waiting for more than
		# the half second after which a queue pair would give up.
		stay 05_multiclient "$count" \
			'./server -t 1000 -G 0 -m 1000 -E 18 write' '-E 18 write'
		printf '%s clients: of one\t%s\t%s\tkB\t<=\n' \
			"$count" "$ours" "$memory"
		printf '%s clients: threads\t%s\t%s\t\t<=\n' \
			"$count" "$ours_threads" "$threads"
	done
done
