#!/usr/bin/env bash
# wire_networks.sh - what worse networks do to each chapter, as a table
#
# usage: scripts/maint/wire_networks.sh [CHAPTER...]      (default: those that
#        write all of a memory, and 01)
#
# Runs each chapter between the two nodes of the lab through networks that lose,
# delay, reorder and duplicate packets, by scripts/wire.sh: chapter 01 with its
# message each way, the others with 200 KiB that each side writes to the other,
# every byte of which is verified. Prints a row a run: how long it took on the wire, how many packets there
# were, how many of RDMA were sent again or were NAKs, and how the two ended:
# `right`, or the error that was reported. docs/wire_networks.txt is its output.
#
# Exit status: 0 each run was right or reported an error, 1 not.
set -euo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$top"
# shellcheck source=scripts/lib/cli.sh
source scripts/lib/cli.sh
# shellcheck source=scripts/lib/chapter.sh
source scripts/lib/chapter.sh
# shellcheck source=scripts/lib/device.sh
source scripts/lib/device.sh

cli_help "$@"
[[ $# -gt 0 ]] ||
	mapfile -t some < <(chapters_where 'devices ~ /rxe/ && shown != "send"')
cli_chapters "$@" "${some[@]}"
cli_checked
networks=('' LOSS=1% LOSS=5% LOSS=10% DELAY=20ms REORDER=1% DUPLICATE=1%)
folder=build/wire_networks
bad=0

# The commands of a chapter; sets $said, what the logs must have in the end.
write_commands() {
	local server='./server -1' client='./client -a 192.0.2.1'

	said='^received message: message from (passive|active)/'
	if [[ $1 != 01* ]]; then
		server+=' -b 204800 write'
		client+=' -b 204800 write'
		# In 05, after the client's number.
		said='^(Client 1: )?(all )?204800 bytes (verified|are right)'
	fi
	mkdir -p "$folder"
	printf '%s\n' "server: $server" "client: $client" >"$folder/commands"
}

# How a run ended: every byte right, or an error with a name.
outcome() {
	local out=$1 end

	if ! grep -qv 'exit status 0$' "$out/logs/status.log" &&
		grep -Eq "$said" "$out/logs/server.log" &&
		grep -Eq "$said" "$out/logs/client.log"; then
		echo right
		return
	fi
	for end in client server; do
		if grep -q "^$end: exit status 1$" "$out/logs/status.log" &&
			[[ -s $out/logs/$end.err ]]; then
			sed -n "s/^error: \([^;]*\).*/$end: \1/
				s/\(status [0-9]* ([^)]*)\).*/\1/; p; q" \
				"$out/logs/$end.err"
			return
		fi
	done
	echo "WRONG: $(tr '\n' ' ' <"$out/logs/status.log")"
	return 1
}

row() {
	local chapter=$1 network=$2 out=build/wire/$1/wire_networks ending

	env ${network:+"$network"} scripts/wire.sh "$chapter" "$folder" >"$folder/ladder" \
		2>"$folder/wire.err" || {
		cat "$folder/wire.err" >&2
		return 1
	}
	ending=$(outcome "$out") || bad=1
	scripts/lib/python.sh wire.packets "$out/a.pcap" | awk -F'\t' \
		-v chapter="$chapter" -v network="${network:-as it is}" \
		-v ending="$ending" '
		NR == 2 { first = $2 }
		NR > 1 && $5 != "TCP ACK" { n++; last = $2 }
		$16 == "again" && $7 != "" { again++ }
		$16 == "nak" { naks++ }
		END { printf "%-14s %-13s %7.2f %7d %6d %5d  %s\n", chapter,
			network, last - first, n, again, naks, ending }'
}

DEVICE=lab
trap device_close EXIT
device_open 2 >&2
printf '%-14s %-13s %7s %7s %6s %5s  %s\n' chapter network seconds packets \
	again NAKs 'how it ended'
for chapter in "${chapters[@]}"; do
	write_commands "$chapter"
	for network in "${networks[@]}"; do
		row "$chapter" "$network"
	done
done
exit "$bad"
