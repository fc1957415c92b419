#!/bin/sh
# compare_logs.sh - did a run tell the same story as the logged one?
#
# usage: compare_logs.sh RUN_DIR EXPECTED_DIR     (on a node in the page)
#
# A node has no Python. It sends the run's logs to the page, on the serial port on which
# programs are heard, a line each; the page compares them, as it compares its own runs
# (web/page/comparer.js), and answers on the same port. Of a log that is long without
# measure, the first 200,000 bytes count.
#
# Exit status: 0 matches, 1 differs, 2 cannot compare.
case ${1:-} in
-h | --help)
	sed -n '2,/^case/{/^case/d;s/^# \{0,1\}//;p}' "$0"
	exit 0
	;;
esac
if [ $# -ne 2 ]; then
	echo "compare_logs.sh: RUN_DIR and EXPECTED_DIR must be given" >&2
	exit 2
fi
exec 3<>/dev/ttyS2
echo "compare q folder $2" >&3
for log in "$1"/*.log "$1"/*.err; do
	[ -e "$log" ] || continue
	echo "compare q log ${log##*/} $(head -c 200000 "$log" | base64 | tr -d '\n')" >&3
done
echo "compare q compare" >&3
while read -r word rest <&3; do
	case $word in
	=) echo "$rest" ;;
	status) exit "$rest" ;;
	esac
done
