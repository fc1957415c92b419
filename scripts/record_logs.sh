#!/usr/bin/env bash
# record_logs.sh - record the expected logs anew from real runs
#
# usage: scripts/record_logs.sh [CHAPTER...]        (make logs, make logs CH=01)
#
# For every folder below CHAPTER/expected and CHAPTER/break that has a file
# `commands`, runs it on a real RDMA device and puts what both ends said beside
# it. Read the difference (`git diff`) before you commit it: it is what your
# change does.
set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top"
# shellcheck source=scripts/device.sh
source scripts/device.sh

[[ ${1:-} != -* ]] || {
	sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"
	exit 2
}
[[ $# -gt 0 ]] || set -- [0-9][0-9]_*/

record() {
	local chapter=$1 folder=$2 kind name

	kind=${folder#"$chapter/"}
	kind=${kind%%/*}
	name=${folder#"$chapter/$kind/"}
	echo "recording $folder"
	if [[ $kind == break ]]; then
		scripts/break.sh "$chapter" "$name" build/recorded >/dev/null
	else
		scripts/pair.sh -d "$chapter" "$folder/commands" build/recorded
	fi
	rm -f "$folder"/*.log "$folder"/*.err
	cp build/recorded/* "$folder"
}

trap device_close EXIT
device_open 1
for argument; do
	for chapter in "${argument%/}"*/; do
		chapter=${chapter%/}
		make -s -C "$chapter"
		while IFS= read -r commands; do
			record "$chapter" "$(dirname "$commands")"
		done < <(find "$chapter/expected" "$chapter/break" \
			-name commands 2>/dev/null | sort)
	done
done
