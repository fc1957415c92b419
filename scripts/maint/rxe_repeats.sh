#!/usr/bin/env bash
# rxe_repeats.sh - rxe (6.1) repeats a message that the peer has, but without its data,
# so that it counts as a new one
#
# usage: scripts/maint/rxe_repeats.sh
#
# docs/performance.md explains why. Between two emulated nodes, with all processors of
# this machine busy, a copy of chapter 07 that repeats what is not acknowledged
# within 67 ms sends 30 MB, up to twenty times, until that goes wrong. Prints what both
# ends say, and the packets that begin or end a message, starting with the wrong one: a
# SEND Only (opcode 4) without data has the PSN that a SEND First (0) had before. The
# capture is build/repeats/capture.pcap. Status 0: it was seen; 1: it was not.
set -euo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$top"
# shellcheck source=scripts/lib/cli.sh
source scripts/lib/cli.sh

cli_help "$@"
[[ $# -eq 0 ]] || cli_misuse "$1: one word too many"
cli_checked
out=build/repeats
copy=$out/07
export LAB_NAME=${LAB_NAME:-$$-repeats}

# shellcheck disable=SC2317 # called by the trap
clean_up() {
	[[ -z ${busy[*]:-} ]] || kill "${busy[@]}" 2>/dev/null || true
	scripts/lab.sh down >"$out/lab" 2>&1 || true
}

# serve: in the background, until one client has been served; and captures, of what
# begins or ends a message, which is as much as a busy node can keep up with.
serve() {
	scripts/lab.sh exec a -- sh -c "
		tcpdump --immediate-mode -U -B 32768 -i eth0 -s 80 \
			-w /tmp/capture.pcap 'udp port 9 or
			(udp port 4791 and (udp[8] = 0 or udp[8] = 2 or udp[8] = 4))' \
			2>/tmp/said &
		rm -rf /tmp/in && mkdir -m 700 /tmp/in && cd $copy &&
			timeout 120 ./server -1 -d /tmp/in
		bash -c 'echo that was all >/dev/udp/192.0.2.2/9
			until grep -aq \"that was all\" /tmp/capture.pcap; do
				sleep 0.1; done'
		kill -INT \$! && wait && cp /tmp/capture.pcap $top/$out &&
			cat /tmp/said" >"$out/server.log" 2>&1 &
	for ((i = 0; i < 300; i++)); do
		! grep -q ^listening "$out/server.log" || return 0
		read -rt 0.2 <> <(:) || true
	done
	echo "error: no server; see $out/server.log" >&2
	exit 1
}

# send: whether it goes wrong.
send() {
	! scripts/lab.sh exec b -- sh -c "cd $copy &&
		head -c 30000003 /dev/urandom >/tmp/file &&
		timeout 120 ./client -a 192.0.2.1 send /tmp/file" \
		>"$out/client.log" 2>&1
}

# Beginnings and ends: their time, opcode, PSN, and bytes of the IP packet.
show() {
	tshark -r "$out/capture.pcap" -T fields -e frame.time_relative \
		-e infiniband.bth.opcode -e infiniband.bth.psn -e ip.len \
		-Y 'ip.src == 192.0.2.2 && infiniband.bth.opcode in {0, 2, 4}' \
		2>/dev/null |
		awk '$2 == 0 { first[$3] = 1 }
			$2 == 4 && $4 == 44 && first[$3] { seen = 1 }
			{ line[NR] = $0 }
			seen && !from { from = NR - 8 }
			END { for (i = from; i <= NR && from; i++) print line[i]
				exit !seen }'
}

rm -rf "$out"
mkdir -p "$out"
trap clean_up EXIT
cp -r 07_full_speed "$copy"
sed -i 's/CM_ACK_FULL)/CM_ACK_ONE)/' "$copy/conn.c"
make -s -C "$copy" clean server client
scripts/lab.sh up --engine tcg
busy=()
for ((i = 0; i < 2 * $(nproc); i++)); do
	timeout 3600 sh -c 'while :; do :; done' &
	busy+=($!)
done
for ((try = 1; try <= 20; try++)); do
	echo "try $try of 20"
	serve
	server=$!
	if send; then
		wait "$server" || true
		grep -h ^error "$out/client.log" "$out/server.log" || true
		! show || exit 0
	else
		wait "$server" || true
	fi
done
echo "it was not seen" >&2
exit 1
