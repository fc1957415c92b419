#!/usr/bin/env bash
# record_logs.sh - record the expected logs again from real runs
#
# usage: scripts/maint/record_logs.sh [CHAPTER|FOLDER...]
#
# For every folder below CHAPTER/expected, CHAPTER/break and CHAPTER/repair that has a
# file `commands`, or for one such FOLDER (01_send_recv/break/no_recv), runs it on a
# real RDMA device and puts what both ends said beside it. Where that matches what is
# there (compare_logs.sh), the old logs stay, so that the diff (`git diff`) shows what
# your change does, and nothing else. Read it before you commit it.
#
# If a folder has linux-X.Y, and the kernel is that or a newer one, the logs go there:
# create it, empty, if the logs differ from that kernel on.
set -euo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$top"
# shellcheck source=scripts/lib/cli.sh
source scripts/lib/cli.sh
# shellcheck source=scripts/lib/device.sh
source scripts/lib/device.sh

cli_help "$@"
[[ ${1:-} != -* ]] || cli_misuse "$1 is neither a chapter nor a folder"

# Runs FOLDER's commands once; the logs are left in build/recorded.
run() {
	local chapter=$1 folder=$2

	if [[ $folder == */break/* ]]; then
		scripts/break.sh "$chapter" "$(basename "$folder")" \
			build/recorded >/dev/null
	elif [[ $folder == */repair/* ]]; then
		scripts/repair.sh --run "$chapter" "$(basename "$folder")" \
			build/recorded
	else
		scripts/pair.sh -d "$chapter" "$folder/commands" build/recorded
	fi
}

# The last run's logs become those of FOLDER.
keep() {
	mkdir -p "$1"
	rm -f "$1"/*.log "$1"/*.err
	find build/recorded -type f ! -name kernel ! -name device \
		-exec cp -t "$1" {} +
}

record() {
	local chapter=$1 folder=$2 logs status=0

	mkdir -p build/recorded
	device_kernel >build/recorded/kernel
	logs=$(scripts/compare_logs.sh -w build/recorded "$folder")
	echo "recording $logs"
	run "$chapter" "$folder" || status=$?
	case $status in
	0)
		if [[ $(scripts/compare_logs.sh build/recorded "$folder" 2>&1) == matches ]]; then
			echo "  as it is recorded"
		else
			keep "$logs"
		fi
		;;
	3) echo "recording nothing in $logs" ;;
	*) return 1 ;;
	esac
}

# Adds to all the files `commands` of a chapter, or of one folder.
find_commands() {
	local chapter found

	if [[ -f $1/commands ]]; then
		all+=("${1%/}/commands")
		return
	fi
	cli_chapter "$1"
	mapfile -t found < <(find "$chapter"/expected "$chapter"/break "$chapter"/repair \
		-name commands 2>/dev/null | sort)
	all+=("${found[@]}")
}

all=()
if [[ $# -eq 0 ]]; then
	cli_chapters "$@"
	set -- "${chapters[@]}"
fi
for argument; do
	find_commands "$argument"
done
[[ ${#all[@]} -gt 0 ]] || cli_misuse "nothing to record in $*"
cli_checked
trap device_close EXIT
device_open "$(device_nodes "${all[@]}")"
chapter=
for commands in "${all[@]}"; do
	if [[ $chapter != "${commands%%/*}" ]]; then
		chapter=${commands%%/*}
		make -s -C "$chapter"
	fi
	record "$chapter" "$(dirname "$commands")"
done
