#!/usr/bin/env bash
# bench.sh - how fast the chapters are, beside the usual tools
#
# usage: [HOSTS=user@a,user@b] scripts/bench.sh [-p PAIRS] [-d FOLDER] [NAME...]
#                                                (default: all, 5 pairs)
#
# NAME is a script in scripts/lib/bench/, such as 07_steps, or a chapter, for all
# that are about it. Each compares two things by running one after the other, PAIRS
# times, on one device (this host's, or one lab's). It prints the medians of both, the
# median of the pairs' ratios and, in brackets, the smallest and the largest of these.
#
# With HOSTS, the servers run on one real host and the clients on another, which ssh reaches:
# only those that say `# hosts: yes` can, and perftest must be there. docs/beyond.md has more.
#
# One that says `# nodes: 2` needs the lab, and is run here: it starts what it
# needs on both nodes itself. Each scripts/lib/bench/NAME.sh prints, with tabs
# between the fields, a line that begins with # (title, name of the first thing,
# of the second) and then, per comparison, a line of
#
#   what    first    second    unit    aim: of their ratio, ">=" or "<=", and a number
#                                      unless it is 1; "-": none; "none": no ratio either
#
# These go to build/bench/NAME.tsv; -d also puts what each prints into FOLDER/NAME.txt
# (docs/performance.md quotes such files). Exit status: 0 measured, 1 could not measure,
# 2 usage. A ratio that misses its aim is not a failure, since on a busy machine it
# means little.
set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top"
# shellcheck source=scripts/lib/cli.sh
source scripts/lib/cli.sh
# shellcheck source=scripts/lib/device.sh
source scripts/lib/device.sh

pairs=5
keep=build/bench
cli_help "$@"
while getopts p:d: option; do
	case $option in
	p) pairs=$OPTARG ;;
	d) keep=$OPTARG ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))
[[ $pairs =~ ^[1-9][0-9]{0,2}$ ]] || {
	echo "bench: -p $pairs: give a number of pairs from 1 to 999" >&2
	exit 2
}
# Those that there are, and those that are wanted: a name, or all of a chapter.
known=(scripts/lib/bench/*.sh)
known=("${known[@]##*/}")
known=("${known[@]%.sh}")
wanted=()
for name; do
	if [[ " ${known[*]} " == *" $name "* ]]; then
		wanted+=("$name")
		continue
	fi
	[[ $name == [0-9]* ]] || cli_none comparison "$name" "${known[@]}"
	cli_chapter "$name"
	mapfile -t -O "${#wanted[@]}" wanted < <(printf '%s\n' "${known[@]}" |
		grep "^${chapter%%_*}")
	[[ " ${wanted[*]}" == *" ${chapter%%_*}"* ]] ||
		cli_none "comparison for $chapter" "$name" "${known[@]}"
done
[[ $# -eq 0 ]] || set -- "${wanted[@]}"
[[ -z ${HOSTS:-} ]] || mapfile -t known < <(grep -lx '# hosts: yes' scripts/lib/bench/*.sh |
	sed 's/.*\///; s/\.sh$//')
[[ $# -gt 0 ]] || set -- "${known[@]}"
for name; do
	[[ " ${known[*]} " == *" $name "* ]] ||
		cli_misuse "$name does not run on two hosts; ${known[*]} do"
done
cli_checked

# What was measured on: nothing here can be read without it.
machine() {
	local where='this host'

	[[ $device_where != hosts ]] || where='two hosts'
	[[ $device_where != lab ]] ||
		where="the lab ($(scripts/lab.sh status |
			sed -n 's/^engine: //p'))"
	echo "$where, Linux $(device_run a uname -r)," \
		"$(device_run a nproc) processors, $pairs pairs"
}

# How many nodes NAME needs.
nodes_of() {
	sed -n 's/^# nodes: *//p' "scripts/lib/bench/$1.sh" | grep . || echo 1
}

# One comparison, where its programs are.
measure() {
	if [[ $device_where == hosts || $(nodes_of "$1") -gt 1 ]]; then
		"scripts/lib/bench/$1.sh" "$(device_address a)" "$pairs"
	else
		device_run a "$top/scripts/lib/bench/$1.sh" "$(device_address a)" \
			"$pairs"
	fi </dev/null >"build/bench/$1.tsv"
}

trap device_close EXIT
make -s all
nodes=1
for name; do
	[[ $(nodes_of "$name") -eq 1 ]] || nodes=$(nodes_of "$name")
done
device_open "$nodes"
device_send "$top/07_full_speed"
mkdir -p build/bench "$keep"
for name; do
	measure "$name"
	{
		echo "Measured on $(machine)."
		echo
		scripts/lib/python.sh bench.table <"build/bench/$name.tsv"
	} >"$keep/$name.txt"
	cat "$keep/$name.txt"
	echo
done
[[ $device_where != hosts ]] || (cd "$keep" && cat "${@/%/.txt}") | hosts_report "scripts/bench.sh $*"
