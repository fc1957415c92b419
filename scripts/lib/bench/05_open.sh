#!/usr/bin/env bash
# 05_open.sh - what a context for each client would cost, beside what it needs
#
# usage: 05_open.sh ADDRESS PAIRS      (bench.sh runs it, where the device is)
#
# PAIRS times: opens the device 200 times more, and makes 200 times what a client
# has on the one that all share. Prints a line per comparison, as bench.sh
# describes.
set -euo pipefail

# shellcheck source=scripts/lib/bench/lib.bash
source "$(dirname "$0")/lib.bash"
pairs=$2

section 'a context for each client' context 'PD to QP'
cc -O2 -Wall -Wextra -o "$tmp/open" "$top/scripts/lib/bench/05_open.c" -libverbs
for ((pair = 1; pair <= pairs; pair++)); do
	"$tmp/open" 200 >"$tmp/report"
	read -r _ us kb fds < <(grep '^context' "$tmp/report")
	read -r _ us2 kb2 fds2 < <(grep '^objects' "$tmp/report")
	printf 'time to make one\t%s\t%s\tus\t-\n' "$us" "$us2"
	printf 'memory of one\t%s\t%s\tkB\t-\n' "$kb" "$kb2"
	printf 'descriptors of one\t%s\t%s\t\t-\n' "$fds" "$fds2"
done
