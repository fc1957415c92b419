#!/usr/bin/env bash
# thousand.sh - many clients connected at the same time, and what came of it
#
# usage: ./thousand.sh ADDRESS [COUNT]            (default: 1000)
#
# Opens COUNT connections at once, waits until all of them are held at the same
# time, and lets them go. Start the server first: ./server write. Prints
# a summary and none of the clients' 24 lines each. Exit status: 0 if all were
# held and every byte was right, 1 if not.
set -euo pipefail

if [[ ${1:-} == -h || ${1:-} == --help ]]; then
	sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"
	exit 0
fi
address=${1?the address of the server is missing}
count=${2:-1000}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# A descriptor on which nothing ever comes, to pause without a process.
exec {silence}<> <(:)

lines() { grep -cF -e "$1" "$log" || true; }

./load/load -n "$count" -a "$address" -w 3600 write >"$log" 2>&1 &
client=$!
until [[ $(lines ': holding the connection.') -eq $count ]]; do
	# It ends before that only if something is wrong.
	kill -0 "$client" 2>/dev/null || break
	read -rt 0.5 -u "$silence" || true
done
echo "held at the same time: $(lines ': holding the connection.')"
kill -TERM "$client" 2>/dev/null || true
status=0
wait "$client" || status=$?
grep -F 'error: ' "$log" | head -n 5 >&2 || true
echo "all bytes verified by clients: $(lines ': 1024 bytes verified.')"
sed -n 's/.*Local PSN: \(.*\), Remote PSN: \(.*\)$/\1\n\2/p' "$log" | sort |
	uniq -c | awk '
		{ psns += $1; repeats += $1 - 1 }
		END { print "PSNs: " psns + 0 "; repeats: " repeats + 0 }'
tail -n 1 "$log"
exit "$status"
