#!/usr/bin/env bash
# capture_cases.sh - a capture of each case of make break, as the wire has it
#
# usage: scripts/maint/capture_cases.sh [-o FOLDER] [CHAPTER[/CASE]...]
#
# Runs each case (default: all of all chapters) between two nodes, by scripts/wire.sh,
# and leaves what node a has seen in FOLDER/CHAPTER.CASE.pcapng, and what node b has, in
# CHAPTER.CASE.b.pcapng; FOLDER is build/captures by default. tests/web/causes.mjs then
# says whether the page "Open a capture" names the cause of each. A lab that is up under
# LAB_NAME is used.
#
# Exit status: 0 all were captured, 1 some were not, and are named, 2 usage.
set -euo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$top"
# shellcheck source=scripts/lib/cli.sh
source scripts/lib/cli.sh
# shellcheck source=scripts/lib/device.sh
source scripts/lib/device.sh

cli_help "$@"
folder=build/captures
if [[ ${1:-} == -o ]]; then
	[[ $# -ge 2 ]] || cli_misuse "-o needs a FOLDER"
	folder=$2
	shift 2
fi
[[ ${1:-} != -* ]] || cli_misuse "$1: there is no such option"
cases=()
[[ $# -gt 0 ]] || set -- [0-9][0-9]_*
for asked; do
	if [[ $asked == */* ]]; then
		cli_chapter "${asked%%/*}" break
		cli_case "${asked#*/}"
		cases+=("$chapter/$name")
		continue
	fi
	cli_chapter "$asked" break
	for path in "$chapter"/break/*/commands; do
		path=${path%/commands}
		cases+=("$chapter/${path##*/}")
	done
done
cli_checked

trap device_close EXIT
export DEVICE=lab
device_open 2
mkdir -p "$folder"
missing=()
for one in "${cases[@]}"; do
	chapter=${one%/*} name=${one#*/}
	file=$folder/$chapter.$name out=build/wire/$chapter/break/$name
	if scripts/wire.sh "$chapter" "break/$name" >"$file.ladder" 2>&1; then
		cp "$out/wire.pcapng" "$file.pcapng"
		tshark -r "$out/b.pcap" -Y 'not udp.port == 9' -w "$file.b.pcapng" 2>/dev/null
		echo "$one"
	elif grep -q 'has no packet of RoCE or TCP$' "$file.ladder"; then
		echo "$one: nothing crosses"
	else
		missing+=("$one")
		tail -n 3 "$file.ladder" >&2
	fi
done
[[ ${#missing[@]} -eq 0 ]] || {
	echo "capture_cases: not captured: ${missing[*]}" >&2
	exit 1
}
