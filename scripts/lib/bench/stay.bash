# stay.bash - what clients cost that are connected at the same time, and stay
#
# Sourced by the measurements of chapters 08 and 05, after lib.bash, with address set.
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # memory and the others; set by lib.bash

# Chapter 05's handshakes take a while, and there are thousands of them.
limit=${BENCH_LIMIT:-1500}

# node NODE COMMAND: in the chapter's folder.
node() {
	timeout "$limit" "$top/scripts/lab.sh" exec "$1" -- \
		bash -c "cd '$top/$folder' && $2" </dev/null
}

# serve_on_a COMMAND: and waits until it listens.
serve_on_a() {
	serve "$top/scripts/lab.sh" exec a -- \
		bash -c "cd '$top/$folder' && exec $1"
	await grep -q '^listening' "$tmp/served"
}

# seconds_since TIME: with one decimal.
seconds_since() {
	awk -v a="$1" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }'
}

# In KiB, of node a, without what the kernel can give back.
used() {
	node a "awk '/^MemTotal/ { n = \$2 } /^MemAvailable/ { n -= \$2 }
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
	serve_on_a "$3"
	before=$(used)
	begun=$EPOCHREALTIME
	node b "exec ./load/load -n $count -t 1000 -w 3600 -a $address $4" \
		>"$tmp/report" 2>&1 &
	load=$!
	await all_stay
	seconds=$(seconds_since "$begun")
	after=$(used)
	memory=$(awk -v n="$count" -v kb="$((after - before))" \
		'BEGIN { printf "%.1f", kb / n }')
	threads=$(node a "awk '/^Threads/ { print \$2 }' /proc/\$(pidof server)/status")
	descriptors=$(node a "ls /proc/\$(pidof server)/fd | wc -l")
	stop_server
	wait "$load" || true
}
