#!/usr/bin/env bash
# 07_file_time.sh - where the time of a file goes
#
# usage: 07_file_time.sh ADDRESS PAIRS      (bench.sh runs it, where the device is)
#
# PAIRS times: a file of 64 MiB by write and by read; as many bytes by ib_write_bw;
# and, alone, each of the steps that a file takes beside that: it is read into the
# ring, hashed at both ends, written, and flushed (07_file_time.c). Of each, the
# fastest of three counts: other work on the machine makes a run slower. Prints the
# milliseconds of each beside those of the file, as bench.sh describes: the ratio is
# its share. The last line of each way leaves all these steps out of the file's time:
# its ratio says how much of ib_write_bw the chapter then reaches. Where the
# ends share one processor, the steps add up; elsewhere, some go side by side.
set -euo pipefail

# shellcheck source=scripts/lib/bench/lib.bash
source "$(dirname "$0")/lib.bash"
# shellcheck source=scripts/lib/bench/perftest.bash
source "$(dirname "$0")/perftest.bash"
# shellcheck source=scripts/lib/bench/file.bash
source "$(dirname "$0")/file.bash"
address=$1
pairs=$2

# How many milliseconds bytes take at that many MB/s.
ms_at() {
	awk -v n=$((bytes * count)) -v rate="$1" \
		'BEGIN { printf "%.2f", n / rate / 1000 }'
}

# report WAY WHOLE: the rows of one file.
report() {
	awk -v way="$1" -v whole="$2" -v wire="$wire" -v steps="$steps" '
	function row(what, first, second) {
		printf "%s: %s\t%.2f\t%.2f\tms\t-\n", way, what, first, second
	}
	BEGIN {
		split(steps, ms, " ")
		others = ms[1] + 2 * ms[2] + ms[3] + ms[4]
		row("ib_write_bw", wire, whole)
		row("copy into the ring", ms[1], whole)
		row("digest, both ends", 2 * ms[2], whole)
		row("copy to the file", ms[3], whole)
		row("flush", ms[4], whole)
		row("these together", wire + others, whole)
		row("without the others", wire, whole - others)
	}'
}

cc -std=gnu11 -O2 -Wall -Wextra -o "$tmp/file_time" \
	"$top/scripts/lib/bench/07_file_time.c" -lcrypto
find_gid
make_file
section 'ms of a file of 64 MiB' step whole
for ((pair = 1; pair <= pairs; pair++)); do
	echo "07: where the time goes, pair $pair of $pairs" >&2
	best value run_theirs
	wire=$(ms_at "$value")
	steps=$("$tmp/file_time" "$tmp/out/file" "$tmp/in/copy" "$bytes")
	for way in write read; do
		best ours run_ours "$way"
		report "$way" "$(ms_at "$ours")"
	done
done
