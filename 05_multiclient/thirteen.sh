#!/usr/bin/env bash
# thirteen.sh - thirteen clients for a server that serves ten: some are refused
#
# usage: ./thirteen.sh ADDRESS
#
# Three clients one after another, five at once, and five more at once while
# those are held. Start the server first: ./server -m 10 write. Prints what the
# clients say, and then all PSNs. Exit status: 0 if ten were served and three
# refused, 1 if not.
set -euo pipefail

if [[ ${1:-} == -h || ${1:-} == --help ]]; then
	sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"
	exit 0
fi
address=${1?the address of the server is missing}
# No run takes longer than this, not even on a slow and busy machine.
limit=100
# All clients say what they say into this pipe.
fifo=$(mktemp -u)
mkfifo -m 600 "$fifo"
exec {pipe}<>"$fifo"
rm "$fifo"
pids=()
trap '[[ ${#pids[@]} -eq 0 ]] || kill "${pids[@]}" 2>/dev/null' EXIT

# start COUNT: so many clients, which hold their connections.
start() {
	./load/load -n "$1" -a "$address" -w 3600 write >&"$pipe" 2>&1 &
	pids+=($!)
}

# pass HELD REFUSED: passes lines on until so many clients say that they hold
# their connection, and so many that the server is full.
pass() {
	local held=$1 refused=$2 line

	while [[ $held -gt 0 || $refused -gt 0 ]]; do
		if ! IFS= read -r -t "$limit" -u "$pipe" line; then
			echo "thirteen.sh: no word of $held clients" >&2
			exit 1
		fi
		case $line in
		error:*) echo "$line" >&2 ;;
		*) echo "$line" ;;
		esac
		case $line in
		*' Local PSN: '*) psns+=("$line") ;;
		*': holding the connection.') held=$((held - 1)) ;;
		*'server full (10 of 10)'*) refused=$((refused - 1)) ;;
		esac
	done
}

psns=()
for _ in 1 2 3; do
	start 1
	pass 1 0
done
start 5
pass 5 0
start 5
pass 2 3
kill -TERM "${pids[@]}"
statuses=()
for pid in "${pids[@]}"; do
	status=0
	wait "$pid" || status=$?
	statuses+=("$status")
done
pids=()
# What they said at the end is still in the pipe, with nothing behind it.
echo end >&"$pipe"
while IFS= read -r -t "$limit" -u "$pipe" line && [[ $line != end ]]; do
	echo "$line"
done
printf '%s\n' "${psns[@]}" | sort -V
echo "thirteen clients, ten held at a time; exit statuses: ${statuses[*]}"
[[ ${statuses[*]} == '0 0 0 0 1' ]]
