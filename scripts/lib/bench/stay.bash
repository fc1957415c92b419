# stay.bash - what clients cost that are connected at the same time, and stay
#
# Sourced by the measurements of chapters 08 and 05, after lib.bash, with address set.
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # memory and the others; set by lib.bash

# Chapter 05's handshakes take a while, and there are thousands of them.
limit=${BENCH_LIMIT:-1500}

# seconds_since TIME: with one decimal.
seconds_since() {
	awk -v a="$1" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }'
}

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

# stay FOLDER COUNT SERVER WORD: sets seconds (until all stay), memory (of node a, in kB
# a client), threads and descriptors (of the server).
stay() {
	local before after load begun

	folder=$1 count=$2
	: >"$tmp/report"
	serve_on_a "$folder" "$3"
	before=$(used)
	begun=$EPOCHREALTIME
	on b "$folder" "exec ./load/load -n $count -t 1000 -w 3600 -a $address $4" \
		>"$tmp/report" 2>&1 &
	load=$!
	await all_stay
	seconds=$(seconds_since "$begun")
	after=$(used)
	memory=$(awk -v n="$count" -v kb="$((after - before))" \
		'BEGIN { printf "%.1f", kb / n }')
	threads=$(on a . "awk '/^Threads/ { print \$2 }' /proc/\$(pidof server)/status")
	descriptors=$(on a . "ls /proc/\$(pidof server)/fd | wc -l")
	stop_server
	wait "$load" || true
}
