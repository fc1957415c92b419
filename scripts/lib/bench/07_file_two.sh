#!/usr/bin/env bash
# 07_file_two.sh - chapter 07's three ways to send a file, between two nodes
# nodes: 2
#
# usage: 07_file_two.sh ADDRESS PAIRS      (bench.sh runs it; the lab is up)
#
# The same as 07_file.sh, with a wire between the two ends, and processors of its own
# for each: PAIRS times, a file of 64 MiB by send, write and read, and ib_write_bw with
# as many bytes in the same pieces; of each, the fastest of three. Who comes first
# alternates.
set -euo pipefail

# shellcheck source=scripts/lib/bench/lib.bash
source "$(dirname "$0")/lib.bash"
# shellcheck source=scripts/lib/bench/file.bash
source "$(dirname "$0")/file.bash"
address=$1
pairs=$2
folder=/tmp/bench_07

# run_file WAY: sets ours, in MB/s.
run_file() {
	serve_on_a 07_full_speed "./server -1 -a $address -t 60 -d $folder"
	ours=$(on b 07_full_speed "./client -a $address -t 60 -c -b $bytes -q $depth $1 \
		$folder/file" | awk -F, '$1 == "file" { print $7 }')
	end_server
	[[ $ours ]] || fail "./client $1: failed"
	on a . "rm $folder/file"
}

# run_bw: sets value, in MB/s; on a busy machine, perftest may find out nothing.
run_bw() {
	local common="-F -x 1 -p 18515 -s $bytes -n $count -t $depth" attempt

	for attempt in 1 2 3 4 5 6; do
		serve_on_a . "ib_write_bw $common" 18515
		value=$(on b . "ib_write_bw $common --output=bandwidth $address" |
			awk '/^ *[0-9.]+ *$/ { print $1 * 1.048576 }')
		stop_server
		[[ $value =~ [1-9] ]] && return
		echo "07: ib_write_bw, attempt $attempt: $value" >&2
	done
	fail "ib_write_bw: $value"
}

on a . "mkdir -p $folder"
on b . "mkdir -p $folder && head -c $((bytes * count)) /dev/urandom >$folder/file"
section 'a file between two nodes' ours ib_write_bw
for ((pair = 1; pair <= pairs; pair++)); do
	for way in send write read; do
		echo "07: a file by $way, pair $pair of $pairs" >&2
		if ((pair % 2)); then
			best ours run_file "$way"
			best value run_bw
		else
			best value run_bw
			best ours run_file "$way"
		fi
		printf '%s\t%s\t%s\tMB/s\t-\n' "$way" "$ours" "$value"
	done
done
on a . "rm -r $folder"
on b . "rm -r $folder"
