#!/usr/bin/env bash
# fill_in.sh - write the body of a function that was taken out of a chapter
#
# usage: scripts/fill_in.sh [--check] [CHAPTER [TASK [DIR]]]
#                           (make fill-in CH=01 TASK=1, CHECK=1, DIR=my_copy)
#
# CHAPTER is 1, 01 or 01_send_recv, TASK the number or name that the list without it
# gives. With both, it puts a copy of the chapter into work/ in which one function is
# empty. The comment before it says what it must do. --check builds DIR (that copy by
# default) and compares what it does with the chapter's logged runs, alone and with the
# chapter as it is at the other end.
#
# REPAIR_PLACE is where it is built and run (build/repair); EXERCISE_UNTIL ends the
# check as soon as that thing, or * any of them, is found missing.
#
# Exit status: 0 done, or all is as it should be; 1 not; 2 usage.
set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/lib/cli.sh
source "$top/scripts/lib/cli.sh"
for part in chapter device copies progress judge judge_repair; do
	# shellcheck source=/dev/null
	source "$top/scripts/lib/$part.sh"
done

cli_help "$@"
do=hand_out
if [[ ${1:-} == --check ]]; then
	do=check
	shift
fi
[[ $# -le 3 && ${1:-} != -* ]] || cli_misuse "which CHAPTER and TASK?"
tasks() { "$top/scripts/lib/python.sh" repair.fill_in "$@"; }

if [[ $# -le 1 ]]; then
	if [[ $# -eq 1 ]]; then
		cli_chapter "$1" fill_in/tasks.tsv
		chapters=("$chapter")
	else
		mapfile -t chapters < <(cli_all_chapters fill_in/tasks.tsv)
	fi
	[[ $do == hand_out ]] || cli_misuse "which CHAPTER and TASK?"
	cli_checked
	tasks list "${chapters[@]/#/$top/}"
	exit 0
fi
cli_chapter "$1" fill_in/tasks.tsv
mapfile -t names < <(tasks names "$top/$chapter")
name=$2
if [[ $name =~ ^[1-9][0-9]{0,2}$ ]]; then
	name=${names[name - 1]:-}
fi
[[ -n $name && " ${names[*]} " == *" $name "* ]] ||
	cli_none "fill-in task of $chapter" "$2" "1 to ${#names[@]}: ${names[*]}"
number=${chapter%%_*}
work=work/${number}_fill_$name
theirs=${3:-$top/$work}
place=${REPAIR_PLACE:-$top/build/repair}/$chapter/fill_$name
# The place of the chapter as it is; and for judge.sh, the folder of a check.
# shellcheck disable=SC2034
original=$(dirname "$place")/original folder=$top/$chapter/fill_in
[[ $do == hand_out || -r $theirs/Makefile ]] || {
	echo "fill_in: there is no Makefile in $theirs; make fill-in CH=$number" \
		"TASK=$name puts the copy there" >&2
	exit 2
}
cli_checked

hand_out() {
	chapter_edited "and $work begins without that" "$chapter"
	if [[ -e $top/$work ]]; then
		echo "$work is there already; remove it to start over."
	else
		copy_committed "$top/$work"
		tasks take "$top/$chapter" "$name" "$top/$work"
	fi
	tasks told "$top/$chapter" "$name"
	echo "It is in $work. Then: make fill-in CH=$number TASK=$name CHECK=1"
}

check_filled() {
	# For judge.sh: who hangs is ended after 15 s, with the second to end by itself.
	# shellcheck disable=SC2034
	local runs limit=14

	copy_both
	if ! build_theirs; then
		cat "$place/build.log"
		missing "it builds"
		exit 1
	fi
	trap device_close EXIT
	device_open 1
	mapfile -t runs < <(cd "$top/$chapter/expected" && grep -L 'first' -- */commands |
		sed 's|/.*||')
	recorded "${runs[@]}"
	together "${runs[0]}"
	# shellcheck source=/dev/null
	[[ ! -e $folder/$name.sh ]] || source "$folder/$name.sh"
	[[ ${bad:-0} -gt 0 ]] || progress_note fill_in "$chapter/$name"
	verdict
}

case $do in
hand_out) hand_out ;;
check) check_filled ;;
esac
