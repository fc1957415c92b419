#!/usr/bin/env bash
# 07_steps.sh - what each step of chapter 07's benchmark gains
#
# usage: 07_steps.sh ADDRESS PAIRS      (bench.sh runs it, where the device is)
#
# PAIRS times: 64 bytes at depth 64 with all of the steps and without each of
# them (option -W). Prints a line per comparison, as bench.sh
# describes; progress goes to stderr.
#
# hosts: yes
set -euo pipefail

# shellcheck source=scripts/lib/bench/lib.bash
source "$(dirname "$0")/lib.bash"
benchmark=(-b 64 -n "${BENCH_COUNT:-20000}" -q 64)

section 'chapter 07: what each step gains' with without
for ((pair = 1; pair <= pairs; pair++)); do
	for step in selective chains batches inline; do
		echo "07: without $step, pair $pair of $pairs" >&2
		client_07 "$address" "${benchmark[@]}"
		write=$(column write ops_per_s) read=$(column read ops_per_s)
		client_07 "$address" "${benchmark[@]}" -W "$step"
		printf 'write, %s\t%s\t%s\tops/s\t-\n' "$step" \
			"$write" "$(column write ops_per_s)"
		# A read has no data to take along.
		[[ $step == inline ]] || printf 'read, %s\t%s\t%s\tops/s\t-\n' \
			"$step" "$read" "$(column read ops_per_s)"
	done
done
