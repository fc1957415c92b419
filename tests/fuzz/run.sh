#!/usr/bin/env bash
# run.sh - feed a decoder with anything, for a while (libFuzzer, sanitizers)
#
# usage: tests/fuzz/run.sh [--keep] TARGET SECONDS|COUNTx [CHAPTER]
#
# TARGET is a decoder and the chapter whose it is: 02_transfer (a conversation with any
# peer), 03_params (the line of parameters), 04_exchange (the exchange itself, over TLS),
# 06_dgram (datagrams), 07_head (headers of a stream), 07_hello (its first message).
# It begins with what is kept in tests/fuzz/corpus/TARGET, and with what earlier runs
# found, and ends after so many SECONDS, or after 20000 inputs with 20000x; with 0, it
# gives the decoder only the first, once each. --keep adds to that file what reaches code
# that nothing in it reaches.
# CHAPTER (default: the target's own) is the folder to take the decoder from.
# FUZZ_DIR (default: build/fuzz/TARGET) gets the program, fuzz, what it found
# worth keeping, corpus/, and any input that broke the decoder, crash-…, which
# breaks it again when given to fuzz. Exit status: 0 nothing was found, 2 usage,
# else something.
set -euo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=scripts/lib/cli.sh
source "$top/scripts/lib/cli.sh"
cli_help "$@"
keep=no
[[ ${1:-} != --keep ]] || { keep=yes && shift; }
[[ $# -ge 2 && $# -le 3 && $2 =~ ^(0|[1-9][0-9]*x?)$ ]] ||
	cli_misuse "TARGET and SECONDS or COUNTx are needed"
target=$1
seconds=$2 runs=-1
[[ $2 != *x ]] || { seconds=600 && runs=${2%x}; }

libraries=()
case $target in
02_transfer) fuzzer=transfer longest=96 libraries=(-libverbs)
	sources=(transfer.c state.c pattern.c)
	;;
03_params)
	fuzzer=params_line longest=300
	sources=(params.c)
	;;
04_exchange)
	fuzzer=exchange longest=512 libraries=(-libverbs -lssl -lcrypto -lpthread)
	sources=(oob.c line.c tls.c tls_fail.c who.c client_hello.c gid.c sock.c addr.c wait.c
		params.c)
	;;
07_head) fuzzer=head sources=(message.c) longest=300 ;;
07_hello) fuzzer=hello sources=(hello.c flow.c message.c) longest=320 ;;
06_dgram) fuzzer=dgram sources=(rds.c hints.c ipv4.c wait.c) longest=1100 ;;
*) cli_none target "$target" 02_transfer 03_params 04_exchange 06_dgram 07_head \
	07_hello ;;
esac
number=${target%%_*}
own=("$top/$number"_*)
chapter=${3:-${own[0]}}

dir=${FUZZ_DIR:-$top/build/fuzz/$target}
kept=$top/tests/fuzz/corpus/$target
rm -rf "$dir/seeds"
mkdir -p "$dir/seeds" "$dir/corpus"
/usr/bin/python3 -B -S "$top/tests/fuzz/kept.py" unpack "$kept" "$dir/seeds"
for i in "${!sources[@]}"; do
	sources[i]=$(find "$chapter" -maxdepth 2 -name "${sources[i]}")
done
clang -std=gnu11 -Wall -Wextra -Werror -O1 -g -fno-omit-frame-pointer \
	-fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined \
	-DCHAPTER="${number#0}" -I"$chapter"{,/carried,/plumbing} -o "$dir/fuzz" \
	"$top/tests/fuzz/fuzz_$fuzzer.c" "$top/tests/fuzz/no_log.c" \
	"${sources[@]}" "${libraries[@]}"
if [[ $fuzzer == exchange ]]; then
	"$chapter/certs.sh" --if-needed --names IP:127.0.0.1 "$dir/certs"
	export FUZZ_CERTS=$dir/certs
fi
fuzz() {
	timeout -k 5 $((seconds + 60)) "$dir/fuzz" -timeout=60 \
		-max_len="$longest" -print_final_stats=1 -artifact_prefix="$dir/" \
		"$@" 2>&1
}
if [[ $seconds -eq 0 ]]; then
	fuzz -runs=0 "$dir/seeds"
else
	fuzz -max_total_time="$seconds" -runs="$runs" -use_value_profile=1 \
		"$dir/corpus" "$dir/seeds"
fi
if [[ $keep == yes ]]; then
	rm -rf "$dir/kept"
	cp -r "$dir/seeds" "$dir/kept"
	fuzz -merge=1 -use_counters=0 "$dir/kept" "$dir/corpus"
	rm "$dir/kept"/line-*
	/usr/bin/python3 -B -S "$top/tests/fuzz/kept.py" pack "$dir/kept" >>"$kept"
fi
