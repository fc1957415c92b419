#!/usr/bin/env bash
# wire.sh - run a chapter between two nodes and show what crossed the wire
#
# usage: scripts/wire.sh CHAPTER [RUN]       (make wire CH=02 RUN=read)
#        scripts/wire.sh CHAPTER break/CASE  (make wire CH=03 CASE=psn_wrap)
#        scripts/wire.sh CHAPTER FOLDER      (make wire CH=02 RUN=build/mine)
#        scripts/wire.sh --read FILE         a capture of your own
#
# Runs the logged run RUN of CHAPTER (default: the one that chapters.tsv names), or any FOLDER
# with a file `commands`, with the server on node a and the client on node b of
# the lab, captures on both, and prints a ladder: both programs' lines, and
# between them each packet in the words of the specification. build/wire/
# CHAPTER/RUN gets the same as wire.svg, and the packets as wire.pcapng.
#
# A worse network, by tc netem on both nodes:
#   LOSS=5%        what arrives is lost: after the capture has seen it
#   DELAY=10ms REORDER=1% DUPLICATE=1%
#                  what is sent: before the capture sees it
#
# --read prints the packets of a pcap or pcapng file, then what happened in it and
# where this repository explains that: what the page "Open a capture" shows.
#
# Exit status: 0 done, 1 could not be done, or --read found something wrong, 2 usage.
set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top"
# shellcheck source=scripts/lib/cli.sh
source scripts/lib/cli.sh
# shellcheck source=scripts/lib/chapter.sh
source scripts/lib/chapter.sh
# shellcheck source=scripts/lib/device.sh
source scripts/lib/device.sh

# What says what is in a packet is what the pages use.
need_node() {
	command -v node >/dev/null || {
		echo "wire: there is no node; scripts/install_deps.sh wire installs it" >&2
		exit 1
	}
}

cli_help "$@"
if [[ ${1:-} == --read ]]; then
	[[ $# -eq 2 ]] || cli_misuse "which FILE?"
	cli_checked
	need_node
	cd "$OLDPWD"
	exec node "$top/web/read_capture.mjs" "$2"
fi
[[ $# -le 2 && ${1:-} != -* ]] || cli_misuse "which CHAPTER and RUN?"
cli_chapter "${1:-}"

# $folder, with the file `commands`, and the name of the run.
case ${2:-} in
'') folder=$chapter/expected/$(chapters_where "chapter == \"$chapter\"" shown) ;;
break/*)
	cli_case "${2#break/}"
	folder=$chapter/break/$name
	;;
expected/* | *[!a-zA-Z0-9_.-]*) folder=$2 ;;
*) cli_run "$2" ;;
esac
[[ -r $folder/commands || ! -r $chapter/$folder/commands ]] ||
	folder=$chapter/$folder
if [[ ! -r $folder/commands ]]; then
	echo "wire: there is no $folder/commands; see the folders in" \
		"$chapter/expected and $chapter/break" >&2
	exit 2
fi
cli_checked
need_node
devices=$(chapters_where "chapter == \"$chapter\"" devices)
folder=${folder%/}
out=build/wire/$chapter/$(basename "$folder")
[[ $folder != "$chapter"/break/* ]] ||
	out=build/wire/$chapter/break/$(basename "$folder")

egress=()
[[ -z ${DELAY:-}${REORDER:-} ]] || egress+=(delay "${DELAY:-5ms}")
[[ -z ${REORDER:-} ]] || egress+=(reorder "$REORDER")
[[ -z ${DUPLICATE:-} ]] || egress+=(duplicate "$DUPLICATE")
worse=${LOSS:+loss $LOSS }${egress[*]}

# The worse network, the same on both nodes.
worsen() {
	local node

	for node in a b; do
		[[ ${#egress[@]} -eq 0 ]] ||
			device_run "$node" tc qdisc replace dev eth0 root netem limit 10000 "${egress[@]}"
		[[ -z ${LOSS:-} ]] || device_run "$node" scripts/lib/repair/loss.sh "$LOSS"
	done
}

mend() {
	local node

	[[ -n $worse ]] || return 0
	for node in a b; do
		device_run "$node" bash -c 'tc qdisc del dev eth0 root
			scripts/lib/repair/loss.sh off' 2>/dev/null || true
	done
}

# Starts the capture on a node; returns once it says that it listens.
capture() {
	local node=$1 line tcp=tcp

	# The kernel's connections of an earlier run of RDS talk now and then.
	[[ $devices == rds ]] || tcp='tcp and not port 16385'
	# The packets go to a file in the node's memory; what tcpdump says comes
	# here. Its buffer has 8,192 places of 4 KiB: with longer ones, -s 0, it
	# has a few only.
	coproc CAPTURE { device_run "$node" tcpdump -i eth0 -n -s 4096 \
		--immediate-mode -B 32768 -U -Z root -w /run/wire.pcap \
		"udp port 4791 or udp port 9 or ($tcp)" 2>&1; }
	while IFS= read -r line <&"${CAPTURE[0]}"; do
		[[ $line == *"listening on"* ]] && return 0
	done
	echo "wire: tcpdump on node $node: ${line:-ended at once}" >&2
	return 1
}

# A datagram that is none of the run's follows it. When a capture has it, it has
# all that was before it; a few of TCP's packets may come later.
end_captures() {
	local node

	device_run a bash -c 'echo wire.sh ends >/dev/udp/192.0.2.2/9'
	for node in a b; do
		# shellcheck disable=SC2016 # in the node
		device_run "$node" timeout 60 bash -c 'exec {silence}<> <(:)
			until tail -c 65536 /run/wire.pcap |
				grep -aq "wire.sh ends"; do
				read -rt 0.05 -u "$silence" || true
			done
			pkill -INT -x tcpdump
			cp /run/wire.pcap "$0"' "$top/$out/$node.pcap" || {
			echo "wire: the capture on node $node is not whole" >&2
			return 1
		}
	done
	capturing=no
}

# A line a counter of the device: node, name, value.
statistics() {
	local node

	for node in a b; do
		device_run "$node" grep -r . /sys/class/infiniband/rxe0/ports/1/hw_counters |
			sed "s|.*/|$node |; s/:/ /" | sort
	done
}

# Those that have changed.
print_statistics() {
	echo
	echo "rdma statistic show    before    after"
	statistics | paste -d' ' "$out/statistics" - |
		awk '$3 != $6 { printf "%s %-20s %6d %8d\n", $1, $2, $3, $6 }'
}

cleanup() {
	mend
	if [[ $capturing == yes ]]; then
		device_run a pkill -INT -x tcpdump || true
		device_run b pkill -INT -x tcpdump || true
	fi
	device_close
}

capturing=no
make -s -C "$chapter"
DEVICE=lab
trap cleanup EXIT
device_open 2
rm -rf "$out"
mkdir -p "$out"
worsen
statistics >"$out/statistics"
capturing=yes
capture a 2>/dev/null
capture b 2>/dev/null
dir=$chapter
if [[ $folder == "$chapter"/break/* ]]; then
	scripts/break.sh --prepare "$chapter" "$(basename "$folder")" >/dev/null
	dir=build/break/$chapter/$(basename "$folder")
fi
scripts/pair.sh -t -n 2 -d "$dir" "$folder/commands" "$out/logs"
end_captures
wait
scripts/lib/python.sh wire.ladder --svg "$out/wire.svg" \
	--title "$folder${worse:+, $worse}" "$out"
tshark -r "$out/a.pcap" -Y 'not udp.port == 9' -w "$out/wire.pcapng" 2>/dev/null
[[ -z $worse ]] || print_statistics
echo
echo "also: $out/wire.svg and wire.pcapng"
