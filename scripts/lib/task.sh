# task.sh - what an exercise and a repair have in common: which one, the copy in work/ that a
# reader is given, the copies that a check builds, and the check
#
# Sourced by exercise.sh and repair.sh when they have set top (the repository). They set names
# (of the chapter's tasks, in order) and do (hand_out, check, …); task_choose sets the rest.
# For tests and the page, TASK_PLACE is where a task is built and run, and EXERCISE_UNTIL ends
# the check as soon as that thing, or * any of them, is found missing.
# shellcheck shell=bash disable=SC2034,SC2154

# shellcheck source=scripts/lib/cli.sh
source "$top/scripts/lib/cli.sh"
# shellcheck source=scripts/lib/chapter.sh
source "$top/scripts/lib/chapter.sh"
# shellcheck source=scripts/lib/device.sh
source "$top/scripts/lib/device.sh"
# shellcheck source=scripts/lib/judge.sh
source "$top/scripts/lib/judge.sh"
# shellcheck source=scripts/lib/progress.sh
source "$top/scripts/lib/progress.sh"

# As in make's targets: exercise or repair.
kind=${cli_name%.sh}

# task_choose KEY WORD DIR OTHERS: the task of that number or name, or of a name in OTHERS;
# KEY is make's variable for it. Sets number (of the chapter), name, work, theirs (DIR, the
# reader's folder, which stays as it is; or work), place (where that is built and run) and
# original (where the chapter as it is is built).
task_choose() {
	number=${chapter%%_*} name=$2
	[[ ! $name =~ ^[1-9][0-9]{0,2}$ ]] || name=${names[name - 1]:-}
	[[ -n $name && " ${names[*]} $4 " == *" $name "* ]] ||
		cli_none "$kind of $chapter" "$2" "1 to ${#names[@]}: ${names[*]}${4:+; $4}"
	work=work/${number}_$name
	theirs=${3:-$top/$work}
	[[ $do != check || -r $theirs/Makefile ]] || {
		echo "$kind: there is no Makefile in $theirs; make $kind CH=$number" \
			"$1=$name puts a copy of the chapter into $work" >&2
		exit 2
	}
	cli_checked
	place=${TASK_PLACE:-$top/build/$kind}/$chapter/$name
	original=$(dirname "$place")/original
}

# Whether there is no copy in work/ yet; else, that is said.
task_is_new() {
	chapter_edited "and $work begins without that" "$chapter"
	[[ -e $top/$work ]] || return 0
	echo "$work is there already; remove it to start over."
	return 1
}

# copy_committed DIR: it becomes the chapter as committed; without git, as it is.
copy_committed() {
	local from=$place/committed

	rm -rf "$from"
	mkdir -p "$from"
	if git -C "$top" rev-parse -q --verify "HEAD:./$chapter" >/dev/null 2>&1; then
		git -C "$top" archive HEAD "$chapter" |
			tar -x -C "$from" --strip-components=1
	else
		chapter_update "$top/$chapter" "$from"
	fi
	chapter_update "$from" "$1"
	rm -rf "$from"
}

# Theirs, with the chapter's objects for what they have not changed, so that only
# the rest is compiled; unless more of their Makefile is new than a list of objects.
copy_theirs() {
	! cmp -s <(grep -v '\.o' "$theirs/Makefile") \
		<(grep -v '\.o' "$original/Makefile") ||
		cp -a "$original/." "$place/mine"
	chapter_update "$theirs" "$place/mine"
}

# task_begin TITLE FILE: their programs and the chapter's are built, and a device is there for
# all runs: pair.sh uses what is up already. A line `nodes: 2` in FILE, the check, asks for two.
task_begin() {
	local nodes=1

	rm -rf "$place"
	mkdir -p "$place/mine"
	# Once for all checks.
	copy_committed "$original"
	make -s -C "$original" CFLAGS='-O1 -g'
	copy_theirs
	echo "$kind $number/$name: $1"
	if ! make -s -C "$place/mine" CFLAGS='-O1 -g' >"$place/build.log" 2>&1; then
		cat "$place/build.log"
		missing "it builds"
		exit 1
	fi
	[[ ! -e $2 || $(<"$2") != *"nodes: 2"* ]] || nodes=2
	trap device_close EXIT
	device_open "$nodes"
}

# task_judge FILE: what the check asks for, if there is one; ends with the verdict.
task_judge() {
	# shellcheck source=/dev/null
	[[ ! -e $1 ]] || source "$1"
	[[ $bad -gt 0 ]] || progress_note "$kind" "$chapter/$name"
	verdict
}
