#!/usr/bin/env bash
# connect.sh - how long a client of 02 (CM), 03 (TCP), 04 (TLS) takes to RTS
#
# usage: connect.sh ADDRESS PAIRS      (bench.sh runs it, where the device is)
#
# A server of each chapter runs all the time. In each of PAIRS rounds, three
# times in turn, a client of each connects, and ends after the usual few
# messages; of its three times the round's is the middle one. What is measured
# is told in connect_stamp.c: all that lies between an address and a queue pair
# that can send, making the queue pair and registering its memory included.
# Prints a line per comparison, as bench.sh describes.
set -euo pipefail

# shellcheck source=scripts/lib/bench/lib.bash
source "$(dirname "$0")/lib.bash"
address=$1
pairs=$2
chapters=(02_write_read 03_pure_verbs 04_tls_psn)
stamp=$tmp/connect_stamp.so

# is_up CHAPTER: whether its server listens.
is_up() {
	grep -qs '^listening' "$tmp/$1.server"
}

# A server that lives until the end; lib.bash ends all that are in $server.
start_server() {
	local chapter=$1 deadline=$((SECONDS + limit))

	(cd "$top/$chapter" && exec ./server -a "$address" -t 60 write) \
		>"$tmp/$chapter.server" 2>&1 &
	server+=" $!"
	until is_up "$chapter"; do
		if ! kill -0 $! || [[ $SECONDS -ge $deadline ]]; then
			fail "$chapter: $(cat "$tmp/$chapter.server")"
		fi
		sleep 0.02
	done
}

# The microseconds that a client of CHAPTER took are appended to its file.
connect() {
	(cd "$top/$1" && CONNECT_STAMP=$tmp/$1.us LD_PRELOAD=$stamp \
		timeout "$limit" ./client -a "$address" -t 60 write) \
		>"$tmp/client" 2>&1 || fail "$1: $(cat "$tmp/client")"
}

# In milliseconds, the middle of the last three.
median() {
	tail -n 3 "$tmp/$1.us" | sort -n | awk 'NR == 2 { print $1 / 1000 }'
}

report() {
	printf '%s\t%s\t%s\tms\t-\n' "$1" "$(median "$2")" "$(median "$3")"
}

cc -std=gnu11 -O2 -fPIC -shared -o "$stamp" \
	"$top/scripts/lib/bench/connect_stamp.c" -ldl
for chapter in "${chapters[@]}"; do
	start_server "$chapter"
	connect "$chapter" # once for nothing: pages, caches, neighbours
done
section 'connect to RTS' first second
for ((pair = 1; pair <= pairs; pair++)); do
	echo "connect: round $pair of $pairs" >&2
	for _ in 1 2 3; do
		for chapter in "${chapters[@]}"; do
			connect "$chapter"
		done
	done
	report '03 (TCP), 02 (CM)' 03_pure_verbs 02_write_read
	report '04 (TLS), 02 (CM)' 04_tls_psn 02_write_read
	report '04 (TLS), 03 (TCP)' 04_tls_psn 03_pure_verbs
done
