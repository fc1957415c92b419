#!/usr/bin/env bash
# run.sh - feed a decoder with anything, for a while (libFuzzer, sanitizers)
#
# usage: tests/fuzz/run.sh TARGET SECONDS [CHAPTER]
#
# TARGET is a decoder and the chapter whose it is: 02_msg, 03_msg (messages),
# 03_params (the line of parameters), 04_params, 05_params (the messages of the
# exchange), 04_exchange, 05_exchange (the exchange itself, over TLS), 06_dgram
# (datagrams), 07_msg (messages), 07_head (headers of a stream of files).
# It begins with what the target's seeds below are and with what earlier runs found.
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
[[ $# -ge 2 && $# -le 3 && $2 =~ ^[1-9][0-9]*$ ]] ||
	cli_misuse "TARGET and SECONDS are needed"
target=$1
seconds=$2

# One message of each type; \0 is an octal zero byte.
seed_02_msg() {
	printf 'RDMA\1\1\1\0\0\0\125\126\166\232\317\0\0\0\11\63\0\0\4\0' \
		>"$1/mr_write"
	printf 'RDMA\1\1\2\0\0\0\125\126\166\232\317\0\0\0\11\63\0\0\4\0' \
		>"$1/mr_read"
	printf 'RDMA\1\2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0' >"$1/done"
}

seed_03_msg() {
	bytes 52444d41 03 02 0000 >"$1/done"
}

# A line of each mode, with IPv4, IPv6 and LID.
seed_03_params() {
	local psn='PSN 0x123456' memory='ADDR 0x55d0c0ffee00 RKEY 0x000007f1'

	echo "RDMA 1 QPN 0x000011 $psn GID ::ffff:192.0.2.1 LID 0x0000" \
		"MTU 1024 MODE write $memory LENGTH 1024" >"$1/write"
	echo "RDMA 1 QPN 0xfffffe $psn GID 2001:db8::1 LID 0xffff" \
		"MTU 4096 MODE read $memory LENGTH 67108864" >"$1/read"
	echo "RDMA 1 QPN 0x000002 $psn GID fe80::5054:ff:fe52:4401 LID 0x0007" \
		"MTU 256 MODE read $memory LENGTH 1" >"$1/one"
}

# bytes HEX...: what the hexadecimal digits say.
bytes() {
	# shellcheck disable=SC2059 # the format is made here
	printf "$(sed 's/ //g; s/../\\x&/g' <<<"$*")"
}

# Each message, and its parameters in each mode, with IPv4, IPv6 and LID.
seed_04_params() {
	seed_params 02 00000000 "$1"
}
seed_05_params() {
	seed_params 03 '0000000c 00000001 00000002 00000400' "$1"
}

# seed_params VERSION HELLO DIR: HELLO is all that follows its header's zeros.
seed_params() {
	local magic="52444d58 $1" memory='000055d0c0ffee00 000007f1 00000400'

	bytes "$magic" 01 0000 "$2" >"$3/hello"
	bytes "$magic" 03 0000 00000000 >"$3/ready"
	bytes "$magic" 04 0000 00000000 >"$3/bye"
	magic+=' 02 0000 00000030'
	bytes "$magic" 00000011 00123456 00000000000000000000ffffc0000201 \
		"$memory" 0000 03 01 00000000 >"$3/write"
	bytes "$magic" 00fffffe 00ffffff 20010db8000000000000000000000001 \
		"$memory" bfff 05 02 00000000 >"$3/read"
	bytes "$magic" 00000002 00000000 fe80000000000000505400fffe524401 \
		"$memory" 0007 01 01 00000000 >"$3/local"
}

# One datagram of each type, one as long as a text may be, and one longer.
seed_06_dgram() {
	local type

	for type in 01 02 03 04 05 06 07 08 09 0a; do
		bytes "52445336 00$type 0000 00000007 74657874" >"$1/$type"
	done
	{
		bytes 52445336 0001 0000 00000000
		printf '%1024s' ''
	} >"$1/longest"
	{
		bytes 52445336 0003 0000 00000000
		printf '%1025s' ''
	} >"$1/longer"
}

seed_07_msg() {
	bytes 52444d41 03 01 01 00 000055d0c0ffee00 000007f1 00000400 >"$1/mr"
	bytes 52444d41 03 02 00 00 0000000000000000 00000000 00000000 >"$1/done"
	bytes 52444d41 03 03 00 00 0000000000000000 00000000 00010000 >"$1/bench"
	bytes 52444d41 03 04 04 00 0000000000000000 00000010 00010000 >"$1/files"
}

# Each type, with nothing behind it; and one with a name.
seed_07_head() {
	local type

	for type in 01 02 03 04 05 06 07 08 09 0a; do
		bytes "52444d46 03 $type 0000 00000000 00000000" \
			0000000000000001 0000000000000000 00000000 00000000 \
			>"$1/$type"
	done
	bytes 52444d46 03 01 0002 00000001 00000004 0000000000001000 \
		0000000000000007 00000000 00000000 6e616d65 >"$1/name"
}

# What a client says: each message in a record, all in one, and byte by byte; with
# what TLS itself may say in between.
seed_04_exchange() {
	seed_exchange 02 "$1"
}
seed_05_exchange() {
	seed_exchange 03 "$1"
}
seed_exchange() {
	local magic="52444d58 $1" params ready bye pieces

	params="$magic 02 0000 00000030 00000011 00123456"
	params+=' 00000000000000000000ffffc0000201 000055d0c0ffee00 000007f1'
	params+=' 00000400 0007 03 01 00000000'
	ready="$magic 03 0000 00000000" bye="$magic 04 0000 00000000"
	bytes "00 3c $params 00 0c $ready 00 0c $bye 05" >"$2/each"
	bytes "00 54 $params $ready $bye 05" >"$2/glued"
	bytes "03 01 00 3c $params 04 02 07 00 0c $ready 04 11 00 0c $bye" \
		>"$2/keys"
	bytes "00 3c $params 00 3c $params 00 0c $ready" >"$2/twice"
	bytes "00 0c $bye 06 05 1703030001" >"$2/behind"
	pieces=$(sed 's/ //g; s/../0001&/g' <<<"$params $ready")
	bytes "$pieces" >"$2/pieces"
}

# What the exchange is linked with; the rest of a chapter is not part of it.
exchange_of() {
	sources=(oob.c params.c msg.c msg_check.c tls.c tls_io.c tls_fail.c who.c
		client_hello.c gid.c sock.c addr.c wait.c)
	[[ $1 != 05 ]] || sources+=(turn.c)
	libraries=(-libverbs -lssl -lcrypto -lpthread)
}

libraries=()
case $target in
0[237]_msg) fuzzer=msg sources=(msg.c) longest=64 ;;
03_params)
	fuzzer=params_line longest=300
	sources=(params.c msg.c msg_check.c)
	;;
0[45]_params) fuzzer=params_bytes sources=(params.c msg.c) longest=128 ;;
0[45]_exchange) fuzzer=exchange longest=512 && exchange_of "${target%%_*}" ;;
07_head) fuzzer=head sources=(head.c) longest=300 ;;
06_dgram) fuzzer=dgram sources=(dgram.c) longest=1100 ;;
*) cli_none target "$target" 02_msg 03_msg 03_params 04_params 04_exchange \
	05_params 05_exchange 06_dgram 07_msg 07_head ;;
esac
number=${target%%_*}
own=("$top/$number"_*)
chapter=${3:-${own[0]}}

dir=${FUZZ_DIR:-$top/build/fuzz/$target}
mkdir -p "$dir/seeds" "$dir/corpus"
"seed_$target" "$dir/seeds"
for i in "${!sources[@]}"; do
	sources[i]=$(find "$chapter" -maxdepth 2 -name "${sources[i]}")
done
clang -std=gnu11 -Wall -Wextra -Werror -O1 -g -fno-omit-frame-pointer \
	-fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined \
	-DCHAPTER="${number#0}" -I"$chapter"{,/carried,/plumbing} -o "$dir/fuzz" \
	"$top/tests/fuzz/fuzz_$fuzzer.c" \
	"${sources[@]}" "${libraries[@]}"
if [[ $fuzzer == exchange ]]; then
	"$chapter/certs.sh" --if-needed --names IP:127.0.0.1 "$dir/certs"
	export FUZZ_CERTS=$dir/certs
fi
exec timeout -k 5 $((seconds + 60)) "$dir/fuzz" \
	-max_total_time="$seconds" -max_len="$longest" -use_value_profile=1 \
	-timeout=60 -print_final_stats=1 -artifact_prefix="$dir/" \
	"$dir/corpus" "$dir/seeds" 2>&1
