#!/usr/bin/env bash
# plain_exchange.sh - what an observer of the exchange can read: 03's and 04's
#
# usage: ./plain_exchange.sh ADDRESS      (as break/plain_exchange/commands has it)
#
# Captures the TCP connection of one run of chapter 03, whose folder must be
# beside this chapter's, and of one run of this chapter, and prints what
# strings(1) finds in the packets that looks like a parameter.
set -euo pipefail

if [[ ${1:-} == -h || ${1:-} == --help ]]; then
	sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"
	exit 0
fi
address=$1
scratch=$(mktemp -d)
tcpdump='' server=''
cleanup() {
	# shellcheck disable=SC2086 # none, one or two
	kill $tcpdump $server 2>/dev/null || true
	rm -rf "$scratch"
}
trap cleanup EXIT

# await FD TEXT: until a line with TEXT comes from FD.
await() {
	local line

	while IFS= read -r -t 60 -u "$1" line; do
		[[ $line != *"$2"* ]] || return 0
	done
	echo "plain_exchange: no \"$2\": ${line:-nothing was said}" >&2
	return 1
}

# whole: until the capture has what is sent now, and so all that was sent before.
whole() {
	local end=$((SECONDS + 60))

	echo 'that was all' >"/dev/udp/$address/9"
	until grep -aq 'that was all' "$scratch/packets"; do
		[[ $SECONDS -lt $end ]] || {
			echo 'plain_exchange: the capture is not whole' >&2
			return 1
		}
		read -rt 0.05 <> <(:) || true
	done
}

# observe PORT FOLDER: one run of the programs in FOLDER, seen from outside.
observe() {
	local from

	# Its buffer has 8,192 places of 4 KiB: with longer ones, -s 0, it has a few
	# only, and loses what comes while it does not run.
	exec {from}< <(exec tcpdump -i any -n -s 4096 --immediate-mode -B 32768 -U \
		-Z root -w "$scratch/packets" "tcp port $1 or udp port 9" 2>&1)
	tcpdump=$!
	await "$from" 'listening on'
	exec {said}< <(cd "$2" && exec ./server -1 write)
	server=$!
	await "$said" 'listening on port'
	(cd "$2" && ./client -a "$address" write) >"$scratch/client"
	cat <&"$said" >/dev/null
	wait "$server"
	whole
	kill -INT "$tcpdump"
	wait "$tcpdump"
	exec {from}<&- {said}<&-
	tcpdump='' server=''
	strings -n 8 "$scratch/packets" |
		grep -oiE '(HELLO )?(RDMA|QPN|PSN|RKEY)[- ].*' || echo nothing
}

echo "What can be read of chapter 03's exchange:"
observe 18515 ../../../../03_pure_verbs
echo "What can be read of chapter 04's exchange:"
observe 4433 .
