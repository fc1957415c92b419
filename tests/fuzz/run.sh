#!/usr/bin/env bash
# run.sh - feed a decoder with anything, for a while (libFuzzer, sanitizers)
#
# usage: tests/fuzz/run.sh TARGET SECONDS [CHAPTER]
#
# TARGET: msg, chapter 02's messages. It begins with what seed_TARGET below
# gives and with what earlier runs found. CHAPTER (default: the target's own) is
# the folder to take the decoder from. FUZZ_DIR (default: build/fuzz/TARGET) gets
# the program, fuzz, what it found worth keeping, corpus/, and any input that
# broke the decoder, crash-…, which breaks it again when given to fuzz. Exit
# status: 0 nothing was found, 2 usage, else something.
set -euo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
usage() {
	sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"
	exit 2
}
[[ $# -ge 2 && $# -le 3 && $2 =~ ^[1-9][0-9]*$ ]] || usage
target=$1
seconds=$2

# One message of each type; \0 is an octal zero byte.
seed_msg() {
	printf 'RDMA\1\1\1\0\0\0\125\126\166\232\317\0\0\0\11\63\0\0\4\0' \
		>"$1/mr_write"
	printf 'RDMA\1\1\2\0\0\0\125\126\166\232\317\0\0\0\11\63\0\0\4\0' \
		>"$1/mr_read"
	printf 'RDMA\1\2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0' >"$1/done"
	printf 'RDMA\1\3\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\20\0' >"$1/bench"
}

case $target in
msg) chapter=${3:-$top/02_write_read} sources=(msg.c) longest=64 ;;
*) usage ;;
esac

dir=${FUZZ_DIR:-$top/build/fuzz/$target}
mkdir -p "$dir/seeds" "$dir/corpus"
"seed_$target" "$dir/seeds"
clang -std=gnu11 -Wall -Wextra -Werror -O1 -g -fno-omit-frame-pointer \
	-fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined \
	-I"$chapter" -o "$dir/fuzz" "$top/tests/fuzz/fuzz_$target.c" \
	"${sources[@]/#/$chapter/}"
exec timeout -k 5 $((seconds + 60)) "$dir/fuzz" \
	-max_total_time="$seconds" -max_len="$longest" -use_value_profile=1 \
	-timeout=10 -print_final_stats=1 -artifact_prefix="$dir/" \
	"$dir/corpus" "$dir/seeds" 2>&1
