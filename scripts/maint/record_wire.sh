#!/usr/bin/env bash
# record_wire.sh - record each chapter's plain run on the wire again
#
# usage: scripts/maint/record_wire.sh [CHAPTER...]
#
# Runs scripts/wire.sh and keeps in CHAPTER/expected/ what its README shows:
# wire.svg and wire.pcapng, and where it has a wire_narrow.txt, a ladder of 80 columns. chapters.tsv says which run that is. A run is not kept if one end
# failed, or if a packet was repeated, as happens on a busy machine: then it makes
# another run. Before each run of a chapter of sockets, the nodes boot again, because
# the kernel keeps its connections, and the picture begins with one that is made. Look at
# the pictures before you commit them.
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
cli_chapters "$@"
cli_checked

# One run of CHAPTER; sets $out, where it is. Fails if an end failed.
run() {
	if [[ $(chapters_where "chapter == \"$1\"" devices) == rds ]]; then
		scripts/lab.sh reset a
		scripts/lab.sh reset b
	fi
	COLUMNS=210 scripts/wire.sh "$1" "$(chapters_where "chapter == \"$1\"" shown)" \
		>build/wire.txt
	out=$(sed -n 's|^also: \(.*\)/wire.svg .*|\1|p' build/wire.txt)
	if grep -qv 'exit status 0$' "$out/logs/status.log"; then
		echo "record_wire: not every program was successful; see" \
			"$out/logs" >&2
		return 1
	fi
}

record() {
	local chapter=$1 expected=$1/expected out tries=0

	echo "recording $expected/wire.*"
	run "$chapter"
	while grep -q '\[retransmission\]' build/wire.txt; do
		if [[ $((++tries)) -eq 8 ]]; then
			echo "record_wire: in each of 8 runs of $chapter a" \
				"packet was sent again; is the machine busy" >&2
			return 1
		fi
		run "$chapter"
	done
	cp "$out"/wire.{svg,pcapng} "$expected"
	[[ ! -e $expected/wire_narrow.txt ]] ||
		COLUMNS=80 scripts/lib/python.sh wire.ladder "$out" >"$expected/wire_narrow.txt"
	follow reth.r_key rkey
	follow bth.psn PSN
	follow bth.destqp QP
}

# follow FIELD WORD: the number of an example of a filter is one of the new ladder's.
follow() {
	local number

	number=$(sed -n "s/.* $2 \(0x[0-9a-f]*\) .*/\1/p" build/wire.txt | head -n 1)
	[[ ! $number ]] || sed -i "s/\(infiniband\.$1 == \)0x[0-9a-f]*/\1$number/" "$chapter"/*.md
}

DEVICE=lab
trap device_close EXIT
device_open 2
mkdir -p build
for chapter in "${chapters[@]}"; do
	record "$chapter"
done
