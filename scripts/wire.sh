#!/usr/bin/env bash
# wire.sh - run a chapter between two nodes and show what crossed the wire
#
# usage: scripts/wire.sh CHAPTER [RUN]       (make wire CH=02 RUN=read)
#        scripts/wire.sh CHAPTER break/CASE  (make wire CH=03 CASE=psn_wrap)
#
# Runs the logged run RUN of CHAPTER (default: its first) with the server on
# node a and the client on node b of the lab, captures on both, and prints a
# ladder: both programs' lines, and between them each packet in the words of
# the specification. build/wire/CHAPTER/RUN gets the same as wire.svg and
# as wire.pcapng.
#
# A worse network, on both nodes, by tc netem:
#   LOSS=5% DELAY=10ms REORDER=1% DUPLICATE=1%
#
# Exit status: 0 done, 1 could not be done, 2 usage.
set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top"
# shellcheck source=scripts/device.sh
source scripts/device.sh

[[ $# -ge 1 && $# -le 2 && $1 != -* ]] || {
	sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"
	exit 2
}
chapter=$(compgen -G "${1%/}*/Makefile" | head -n 1) || {
	echo "wire: no chapter $1; see \`make help\`" >&2
	exit 2
}
chapter=${chapter%/Makefile}
if [[ -n ${2:-} ]]; then
	folder=$chapter/${2#expected/}
	[[ $2 == break/* ]] || folder=$chapter/expected/${2#expected/}
else
	folder=$(dirname "$(find "$chapter/expected" -name commands | sort |
		head -n 1)")
fi
if [[ ! -r $folder/commands ]]; then
	echo "wire: there is no $folder/commands; see the folders in" \
		"$chapter/expected and $chapter/break" >&2
	exit 2
fi

out=build/wire/${folder//\/expected/}
netem=()
[[ -z ${LOSS:-} ]] || netem+=(loss "$LOSS")
[[ -z ${DELAY:-}${REORDER:-} ]] || netem+=(delay "${DELAY:-5ms}")
[[ -z ${REORDER:-} ]] || netem+=(reorder "$REORDER")
[[ -z ${DUPLICATE:-} ]] || netem+=(duplicate "$DUPLICATE")

# Both nodes send through the worse network, so it is the same both ways.
worsen() {
	local node

	[[ ${#netem[@]} -gt 0 ]] || return 0
	for node in a b; do
		device_run "$node" tc qdisc replace dev eth0 root netem \
			"${netem[@]}"
	done
}

mend() {
	local node

	[[ ${#netem[@]} -gt 0 ]] || return 0
	for node in a b; do
		device_run "$node" tc qdisc del dev eth0 root 2>/dev/null || true
	done
}

# Starts the capture on a node; returns once it says that it listens.
capture() {
	local node=$1 line

	# The packets go to the file; what tcpdump says comes here.
	coproc CAPTURE { device_run "$node" tcpdump -i eth0 -n -s 0 \
		--immediate-mode -U -w "$top/$out/$node.pcap" \
		'udp port 4791 or tcp' 2>&1; }
	while IFS= read -r line <&"${CAPTURE[0]}"; do
		[[ $line == *"listening on"* ]] && return 0
	done
	echo "wire: tcpdump on node $node: ${line:-ended at once}" >&2
	return 1
}

statistics() {
	local node

	for node in a b; do
		echo "node $node:"
		device_run "$node" rdma statistic show | sed 's/^/  /'
	done
}

cleanup() {
	mend
	device_run a pkill -INT tcpdump 2>/dev/null || true
	device_run b pkill -INT tcpdump 2>/dev/null || true
	device_close
}

make -s -C "$chapter"
DEVICE=lab
trap cleanup EXIT
device_open 2
rm -rf "$out"
mkdir -p "$out"
worsen
statistics >"$out/statistics.before"
capture a 2>/dev/null
capture b 2>/dev/null
dir=$chapter
if [[ $folder == */break/* ]]; then
	scripts/break.sh --prepare "$chapter" "$(basename "$folder")" >/dev/null
	dir=build/break/$chapter/$(basename "$folder")
fi
export PAIR_WRAP="strace -f -qq -ttt -s 4096 -e trace=write -e signal=none"
PAIR_WRAP+=" -o $top/$out/LABEL.strace"
scripts/pair.sh -n 2 -d "$dir" "$folder/commands" "$out/logs"
statistics >"$out/statistics.after"
device_run a pkill -INT tcpdump
device_run b pkill -INT tcpdump
wait
scripts/wire/ladder.py --svg "$out/wire.svg" \
	--title "$folder ${netem[*]}" "$out"
tshark -r "$out/a.pcap" -w "$out/wire.pcapng" 2>/dev/null
if [[ ${#netem[@]} -gt 0 ]]; then
	echo
	echo "rdma statistic, what changed:"
	diff --side-by-side --suppress-common-lines -W 120 \
		"$out/statistics.before" "$out/statistics.after" || true
fi
echo
echo "also: $out/wire.svg and wire.pcapng"
