#!/usr/bin/env bash
# demo.sh - run every chapter on real Soft-RoCE and compare with the logged runs
#
# usage: scripts/demo.sh [--plan] [CHAPTER...]      (make demo, make demo CH=01)
#
# CHAPTER is 1, 01 or 01_send_recv; without one, all are run. --plan only says
# what that would install, fetch and need on this machine, and how long it takes.
#
# Takes this host's RDMA device if it has a usable one, else boots the lab and
# takes it down again. Runs that need two nodes come last, and in the lab. A run
# that cannot succeed on the kernel says why.
#
# HOSTS=user@a,user@b runs all on two real hosts instead, reached by ssh: servers on
# the first, clients on the second. SSH_CONFIG=FILE is for ssh -F; DEVICE=mlx5_0 names
# the RDMA device where there are several (DEVICE=mlx5_0,rxe0: one on each). What was
# seen is in build/hosts/report.txt, without names and addresses.
#
# Exit status: 0 every run that can matches, 1 not, 2 usage.
set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top"
# shellcheck source=scripts/lib/cli.sh
source scripts/lib/cli.sh
# shellcheck source=scripts/lib/chapter.sh
source scripts/lib/chapter.sh
# shellcheck source=scripts/lib/device.sh
source scripts/lib/device.sh
# shellcheck source=scripts/lib/progress.sh
source scripts/lib/progress.sh

cli_help "$@"
only_plan=no
if [[ ${1:-} == --plan ]]; then
	only_plan=yes
	shift
fi
[[ ${1:-} != -* ]] || cli_misuse "there is no option $1"
cli_chapters "$@"
cli_checked

table=()
differ=()
failed=0

# One logged run; its first comment line says what it shows.
run() {
	local folder=$1 started=$EPOCHREALTIME ran=0 shows verdict seconds
	local out=build/demo/$1

	shows=$(sed -n '1s/^# *//p' "$folder/commands")
	printf '\n== %s: %s\n' "$folder" "$shows"
	grep -v '^#' "$folder/commands"
	echo
	scripts/pair.sh -v "$folder/commands" "$out" || ran=$?
	# Another server is in the way of all that follows, too.
	[[ $ran -ne 4 ]] || exit 1
	if [[ $ran -eq 3 ]]; then
		verdict=cannot
	elif scripts/compare_logs.sh "$out" "$folder" | tee "$out.compared"; then
		verdict=matches
		progress_note run "${folder%%/*}/$(basename "$folder")"
	else
		verdict=DIFFERS
		failed=1
	fi
	seconds=$(awk -v a="$started" -v b="$EPOCHREALTIME" \
		'BEGIN { printf "%.1f", b - a }')
	[[ $verdict != DIFFERS ]] || differ+=("$folder")
	table+=("$(printf '%-16s %-46s %-8s %4s s' "${folder%%/*}" "$shows" \
		"$verdict" "$seconds")")
}

# run_all NODES: the runs that need as many.
run_all() {
	local folder folders=()

	for folder in "${all[@]}"; do
		[[ $(device_nodes "$folder/commands") -ne $1 ]] ||
			folders+=("$folder")
	done
	[[ ${#folders[@]} -gt 0 ]] || return 0
	for folder in "${folders[@]}"; do
		run "$folder"
	done
}

# What it says at the end, and what differed.
summary() {
	local folder

	printf '\n%-16s %-46s %-8s %6s\n' chapter 'what it showed' logs time
	printf '%s\n' "${table[@]}"
	[[ ${1:-} == all ]] || return 0
	for folder in "${differ[@]}"; do
		printf '\n%s\n' "$folder"
		tail -n +1 "build/demo/$folder".compared "build/demo/$folder"/*.{log,err} \
			2>/dev/null || true
	done
}

# What this would take.
plan() {
	local address where='the lab' needs=lab n=${#all[@]}

	[[ -z ${HOSTS:-} ]] || needs=hosts
	# shellcheck source=scripts/lib/plan.sh
	source scripts/lib/plan.sh
	echo "make demo: $n runs of ${chapters[*]}"
	echo "  packages  $(plan_packages build "$needs")"
	if [[ ${HOSTS:-} ]]; then
		echo "  device    those of $HOSTS, by ssh; there, a folder in /tmp that is" \
			"taken away again"
		where='these two hosts'
	elif address=$(scripts/setup_rxe.sh --quiet-check); then
		echo "  device    this machine's own, at $address"
		where='this machine'
		[[ $most -eq 1 ]] || where+=', and what needs two nodes in the lab'
	else
		echo "  device    none here that can be used: Soft-RoCE in the lab," \
			"a throwaway virtual machine"
	fi
	if [[ $where == *lab ]]; then
		echo "  kernel    $(plan_lab kernel || true)"
		echo "  memory    $(plan_memory "$most" || true)"
	fi
	echo "  build     in the chapters' folders, 10 MB"
	echo "  run       on $where, a few seconds each"
	echo "  time      $(((45 + 2 * n) / 60 + 1)) to $(((90 + 6 * n) / 60 + 1))" \
		"minutes, and what the network takes"
}

mapfile -t all < <(for chapter in "${chapters[@]}"; do
	find "$chapter/expected" -name commands -printf '%h\n' | sort
done)
most=$(device_nodes "${all[@]/%//commands}" /dev/null)
if [[ $only_plan == yes ]]; then
	plan
	chapter_edited 'and it runs with that' "${chapters[@]}"
	exit 0
fi
trap device_close EXIT
# ssh, when it is interrupted, ends as if that were an answer; the next run would begin.
trap 'trap - INT; kill -INT $$' INT
if [[ $most -gt 1 ]] && ! device_on_host 1; then
	device_open "$most"
else
	device_open 1
fi
case $device_where in
host) echo "RDMA device: this host's, at $(device_address a)" ;;
lab) echo "RDMA device: Soft-RoCE in the lab, a throwaway VM" ;;
hosts) echo "RDMA devices: $(device_address a) on host a, $(device_address b) on host b" ;;
esac
run_all 1
if [[ $most -gt 1 && $device_where == host ]]; then
	echo
	echo "What needs two nodes: Soft-RoCE in the lab"
	device_open "$most"
fi
run_all 2

summary
[[ $device_where != hosts ]] || summary all | hosts_report "make demo of ${chapters[*]}"
[[ $failed -eq 0 ]] || chapter_edited 'and it ran with that' "${chapters[@]}"
exit "$failed"
