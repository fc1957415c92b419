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
# EXERCISE_PLACE is where it is built and run (build/exercise); EXERCISE_UNTIL
# ends the check as soon as that thing, or * any of them, is found missing.
#
# Exit status: 0 done, or all that is asked for is there; 1 not; 2 usage.
set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/lib/cli.sh
source "$top/scripts/lib/cli.sh"
# shellcheck source=scripts/lib/chapter.sh
source "$top/scripts/lib/chapter.sh"
# shellcheck source=scripts/lib/device.sh
source "$top/scripts/lib/device.sh"
# shellcheck source=scripts/lib/copies.sh
source "$top/scripts/lib/copies.sh"
# shellcheck source=scripts/lib/progress.sh
source "$top/scripts/lib/progress.sh"
# shellcheck source=scripts/lib/judge.sh
source "$top/scripts/lib/judge.sh"

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
name=$2
if [[ $name =~ ^[1-9][0-9]*$ ]]; then
	name=${names[name - 1]:-}
fi
[[ -n $name && " ${names[*]} ${empty[*]} " == *" $name "* ]] ||
	cli_none "exercise of $chapter" "$2" "1 to ${#names[@]}: ${names[*]}; ${empty[*]}"
work=work/${number}_$name
theirs=${3:-$top/$work}
[[ $do == hand_out || -r $theirs/Makefile ]] || {
	echo "exercise: there is no Makefile in $theirs; make exercise CH=$number" \
		"EX=$name puts a copy of the chapter into $work" >&2
	exit 2
}
[[ " ${empty[*]} " == *" $name "* ]] && body=yes || body=''
cli_checked

# Both are built here, so that the reader's folder stays as it is.
place=${EXERCISE_PLACE:-$top/build/exercise}/$chapter/$name
original=$(dirname "$place")/original

if [[ $do == hand_out ]]; then
	chapter_edited "and $work begins without that" "$chapter"
	if [[ -e $top/$work ]]; then
		echo "$work is there already; remove it to start over."
	else
		copy_committed "$top/$work"
		[[ -z $body ]] || bodies take "$top/$chapter" "$name" "$top/$work"
	fi
	if [[ $body ]]; then
		bodies told "$top/$chapter" "$name"
		echo "It is in $work. Then: make exercise CH=$number EX=$name CHECK=1"
		exit 0
	fi
	sed -n '1s/^# *//p' "$folder/$name.md"
	echo
	echo "$chapter/exercises/$name.md says what it asks for. Change the files in $work,"
	echo "and no others; make -C $work builds them. Then:"
	echo "  make exercise CH=$number EX=$name CHECK=1"
	exit 0
fi

# As the logged runs show it, alone and with the chapter; who hangs is ended after 15 s.
check_body() {
	# shellcheck disable=SC2034 # for judge.sh
	local limit=14 runs

	mapfile -t runs < <(cd "$top/$chapter/expected" && grep -L 'first\|loopback' -- */commands |
		sed 's|/.*||')
	recorded "${runs[@]}"
	together "${runs[0]}"
	# shellcheck source=/dev/null
	[[ ! -e $folder/$name.sh ]] || source "$folder/$name.sh"
}

if [[ $body ]]; then
	title=$(bodies told "$top/$chapter" "$name")
else
	title=$(sed -n '1s/^# *//p' "$folder/$name.md")
fi
# A line `nodes: 2` in a run asks for two nodes.
nodes=1
[[ ! -e $folder/$name.sh || $(<"$folder/$name.sh") != *"'nodes: 2'"* ]] || nodes=2
begin_check exercise "$title" "$nodes"
if [[ $body ]]; then
	check_body
else
	# shellcheck source=/dev/null
	source "$folder/$name.sh"
fi
[[ $bad -gt 0 ]] || progress_note exercise "$chapter/$name"
verdict
