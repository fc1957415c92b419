#!/usr/bin/env bash
# exercise.sh - make a chapter do something new, and have that checked by what it does
#
# usage: scripts/exercise.sh [--check] CHAPTER [EXERCISE [DIR]]
#                         (make exercise CH=02 EX=1, CHECK=1, DIR=my_copy)
#
# CHAPTER is 1, 01 or 01_send_recv, EXERCISE the number or name that the list
# without it gives. With both, it puts a copy of the chapter as it is committed into
# work/, in which you work; some exercises take the body of a function out of it, for
# you to write. --check builds DIR (that copy by default), runs it on a real device, alone
# and with the chapter, and compares what both ends say with what the exercise asks for.
# How it is written does not matter.
#
# Exit status: 0 done, or all that is asked for is there; 1 not; 2 usage.
set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/lib/task.sh
source "$top/scripts/lib/task.sh"

cli_help "$@"
do=hand_out
if [[ ${1:-} == --check ]]; then
	do=check
	shift
fi
[[ $# -le 3 && ${1:-} != -* ]] || cli_misuse "which CHAPTER and EXERCISE?"
cli_chapter "${1:-}" exercises/README.md
number=${chapter%%_*}
folder=$top/$chapter/exercises
# In the order in which the page has them.
mapfile -t names < <(grep -oE '\]\([a-z0-9_]+\.md\)' "$folder/README.md" |
	tr -d ']()' | sed 's/\.md$//')
bodies() { "$top/scripts/lib/python.sh" bodies "$@"; }
mapfile -t empty < <(bodies names "$top/$chapter")

if [[ $# -eq 1 ]]; then
	[[ $do == hand_out ]] || cli_misuse "which EXERCISE?"
	cli_checked
	echo "Exercises of $chapter:"
	bodies list "$top/$chapter"
	for i in "${!names[@]}"; do
		title=$(sed -n '1s/^# *//p' "$folder/${names[i]}.md")
		printf '  make exercise CH=%s EX=%d   %-12s %s\n' "$number" \
			$((i + 1)) "${names[i]}" "$title"
	done
	exit 0
fi
task_choose EX "$2" "${3:-}" "${empty[*]}"
[[ " ${empty[*]} " == *" $name "* ]] && body=yes || body=''

# In a sentence or two.
title() {
	if [[ $body ]]; then
		bodies told "$top/$chapter" "$name"
	else
		sed -n '1s/^# *//p' "$folder/$name.md"
	fi
}

if [[ $do == hand_out ]]; then
	if task_is_new; then
		copy_committed "$top/$work"
		[[ -z $body ]] || bodies take "$top/$chapter" "$name" "$top/$work"
	fi
	title
	if [[ $body ]]; then
		echo "It is in $work. Then: make exercise CH=$number EX=$name CHECK=1"
		exit 0
	fi
	echo
	echo "$chapter/exercises/$name.md says what it asks for. Change the files in $work,"
	echo "and no others; make -C $work builds them. Then:"
	echo "  make exercise CH=$number EX=$name CHECK=1"
	exit 0
fi

# As the logged runs show it, alone and with the chapter; who hangs is ended after 15 s.
check_body() {
	local runs

	# shellcheck disable=SC2034 # for judge.sh
	limit=14
	mapfile -t runs < <(cd "$top/$chapter/expected" && grep -L 'first\|loopback' -- */commands |
		sed 's|/.*||')
	recorded "${runs[@]}"
	together "${runs[0]}"
}

task_begin "$(title)" "$folder/$name.sh"
[[ -z $body ]] || check_body
task_judge "$folder/$name.sh"
