#!/usr/bin/env bash
# repair.sh - repair a chapter that somebody has broken
#
# usage: scripts/repair.sh [--check|--hint] [CHAPTER [TASK [DIR]]]
#                         (make repair CH=02 TASK=1, CHECK=1, HINT=1, DIR=my_copy)
#
# CHAPTER is 1, 01 or 01_send_recv, TASK the number or name that the list without it
# gives. With both, it puts a broken copy of the chapter into work/, with TASK.md: the
# symptom, and what both ends said. That is all you would have in real life.
#
#   --check   builds DIR (the copy in work/ by default), runs both ends on a real
#             device, alone and with the chapter as it is, and says what still differs.
#             How it is written does not matter.
#   --hint    the next of three hints: where to look, what to ask, what the rule is
#   --run     only runs the broken chapter as the task's `commands` says, and leaves
#             what both ends said in DIR (for authors)
#
# Exit status: 0 done, or repaired; 1 not repaired; 2 usage.
set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/lib/task.sh
source "$top/scripts/lib/task.sh"

cli_help "$@"
do=hand_out
case ${1:-} in
--check | --hint | --run)
	do=${1#--}
	shift
	;;
esac
[[ $# -le 3 && ${1:-} != -* ]] || cli_misuse "which CHAPTER and TASK?"
tasks() { "$top/scripts/lib/python.sh" repair.tasks "$@"; }

if [[ $# -le 1 ]]; then
	if [[ $# -eq 1 ]]; then
		cli_chapter "$1" 'repair/*/task.md'
		chapters=("$chapter")
	else
		mapfile -t chapters < <(cli_all_chapters 'repair/*/task.md')
	fi
	[[ $do == hand_out ]] || cli_misuse "which CHAPTER and TASK?"
	cli_checked
	tasks list "${chapters[@]/#/$top/}"
	[[ $# -eq 1 ]] || echo "make repair CH=01 tells the symptoms of a chapter's tasks."
	exit 0
fi
cli_chapter "$1" 'repair/*/task.md'
mapfile -t names < <(tasks names "$top/$chapter")
task_choose TASK "$2" "${3:-}" ''
task=$top/$chapter/repair/$name
# What scripts/lib/judge.sh calls the folder of a check.
folder=$top/$chapter/repair

# broken DIR: makes DIR, the chapter as it is with what is broken.
broken() {
	rm -rf "$place"
	copy_committed "$original"
	chapter_update "$original" "$1"
	tasks patch "$task" | patch -f -s --no-backup-if-mismatch -d "$1" -p1
}

hand_out() {
	if task_is_new; then
		broken "$top/$work"
		tasks letter "$task" "$work" >"$top/$work/TASK.md"
	fi
	sed -n '1s/^# //p; 2s/.*//p; s/^> //p' "$task/task.md"
	echo
	echo "Read $work/TASK.md, repair what is in $work, and then:"
	echo "  make repair CH=$number TASK=$name CHECK=1"
}

# The next one that has not been given.
hint() {
	local count=1

	while [[ $count -lt 3 ]] &&
		grep -qs "^hint $chapter/$name/$count" "$progress_file"; do
		count=$((count + 1))
	done
	progress_note hint "$chapter/$name/$count"
	echo "Hint $count of 3:"
	tasks hint "$task" "$count"
}

run_broken() {
	broken "$place/mine"
	make -s -C "$place/mine"
	sed "s|ORIGINAL|$original|g" "$(tasks commands "$task")" >"$place/commands"
	! grep -q "$original" "$place/commands" || make -s -C "$original"
	trap device_close EXIT
	device_open "$(device_nodes "$place/commands")"
	"$top/scripts/pair.sh" -d "$place/mine" "$place/commands" "$theirs"
	! grep -q lib/repair/ "$place/commands" || mend
}

case $do in
hand_out) hand_out ;;
hint) hint ;;
run) run_broken ;;
check)
	task_begin "$(sed -n '1s/^# *//p' "$task/task.md")" "$task/judge.sh"
	task_judge "$task/judge.sh"
	;;
esac
