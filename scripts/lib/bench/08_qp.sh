#!/usr/bin/env bash
# 08_qp.sh - what the device takes for a queue pair, with shared queues and without
#
# usage: 08_qp.sh ADDRESS PAIRS      (bench.sh runs it, where the device is)
#
# PAIRS times: makes 1000 queue pairs on one CQ and one shared receive queue, and 1000
# with a CQ and 64 receives of their own. None is connected, so this is what the
# device and its library need, without the CM. Prints a line as bench.sh describes.
set -euo pipefail

# shellcheck source=scripts/lib/bench/lib.bash
source "$(dirname "$0")/lib.bash"
pairs=$2

section 'a queue pair alone' 'shared queues' 'its own'
cc -O2 -Wall -Wextra -o "$tmp/qp" "$top/scripts/lib/bench/08_qp.c" -libverbs
for ((pair = 1; pair <= pairs; pair++)); do
	"$tmp/qp" 1000 >"$tmp/report"
	printf 'memory of one\t%s\t%s\tkB\t<=\n' \
		"$(awk '$1 == "shared" { print $2 }' "$tmp/report")" \
		"$(awk '$1 == "own" { print $2 }' "$tmp/report")"
done
