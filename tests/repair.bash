# repair.bash - what the tests of repair tasks have in common
# shellcheck shell=bash disable=SC2154 # top is of helpers.bash

REPAIR_PLACE=$top/build/tests/repair/$(basename "${BATS_TEST_FILENAME%.bats}")
[[ $BATS_TEST_FILENAME != */long/* ]] || REPAIR_PLACE+=.long
export REPAIR_PLACE PROGRESS=

tasks() { "$top/scripts/lib/python.sh" repair.tasks "$@"; }

# broken_copy CHAPTER NAME [PATCH]: makes the folder $copy, what a reader is given,
# with what somebody then did to it.
broken_copy() {
	copy=$REPAIR_PLACE/copy
	rm -rf "$copy"
	chapter_update "$top/$1" "$copy"
	tasks patch "$top/$1/repair/$2" |
		patch -f -s --no-backup-if-mismatch -d "$copy" -p1
	[[ -z ${3:-} ]] || patch -f -s -d "$copy" -p1 <"$3"
}

# header FILE NAME: what stands behind NAME: in the first lines of a repair.
header() {
	sed -n "/^---/q; s/^$2: *//p" "$1"
}

# is_repaired CHAPTER NAME DIR: the check finds nothing missing.
is_repaired() {
	run "$top/scripts/repair.sh" --check "$1" "$2" "$3"
	[[ $status -eq 0 && $output == *'things are there' ]] && return
	printf '%s/%s %s: status %d\n%s\n' "$1" "$2" "$3" "$status" "$output"
	return 1
}

# is_not_repaired CHAPTER NAME DIR TEXT: it finds that TEXT is missing.
is_not_repaired() {
	EXERCISE_UNTIL=$4 run "$top/scripts/repair.sh" --check "$1" "$2" "$3"
	[[ $status -eq 1 && $'\n'$output =~ $'\n'"  missing  $4"( \(|$'\n') ]] && return
	printf '%s/%s %s: status %d, not said to be missing: %s\n%s\n' "$1" "$2" \
		"$3" "$status" "$4" "$output"
	return 1
}

# repaired CHAPTER NAME FILTER: of the task's repairs those whose names begin so are
# right or wrong, as they say.
repaired() {
	local patch bad=''

	for patch in "$top/tests/repair/$1/$2/$3"*.patch; do
		broken_copy "$1" "$2" "$patch"
		if [[ ${patch##*/} == right_* ]]; then
			is_repaired "$1" "$2" "$copy" || bad=yes
		else
			is_not_repaired "$1" "$2" "$copy" \
				"$(header "$patch" Missing)" || bad=yes
		fi
	done
	[[ -z $bad ]]
}

# whole CHAPTER NAME: the chapter as it is does what is asked for, and the broken copy
# does not; and so with all its repairs.
whole() {
	is_repaired "$1" "$2" "$top/$1" || return
	broken_copy "$1" "$2"
	run -1 "$top/scripts/repair.sh" --check "$1" "$2" "$copy"
	repaired "$1" "$2" ''
}

# filled CHAPTER NAME: a fill-in task is not done without the body, nor with a wrong one,
# and is with it.
filled() {
	local patch

	copy=$REPAIR_PLACE/copy
	rm -rf "$copy"
	chapter_update "$top/$1" "$copy"
	"$top/scripts/lib/python.sh" repair.fill_in take "$top/$1" "$2" "$copy"
	EXERCISE_UNTIL='*' run -1 "$top/scripts/fill_in.sh" --check "$1" "$2" "$copy"
	[[ $output == *'  missing  '* && $output != *'missing  it builds'* ]]
	run -0 "$top/scripts/fill_in.sh" --check "$1" "$2" "$top/$1"
	[[ $output == *'things are there' ]]
	for patch in "$top/tests/repair/$1/fill_$2"/wrong_*.patch; do
		[[ -e $patch ]] || continue
		chapter_update "$top/$1" "$copy"
		patch -f -s --no-backup-if-mismatch -d "$copy" -p1 <"$patch"
		EXERCISE_UNTIL=$(header "$patch" Missing) \
			run -1 "$top/scripts/fill_in.sh" --check "$1" "$2" "$copy"
		[[ $output == *"  missing  $(header "$patch" Missing)"* ]]
	done
}

# all_names: each repair task, or fill-in task: CHAPTER/NAME, a line each.
all_names() {
	local chapter

	for chapter in "$top"/[0-9][0-9]_*; do
		"$top/scripts/lib/python.sh" "repair.$1" names "$chapter" |
			sed "s|^|${chapter##*/}/|"
	done
}

# chosen COUNT KIND: a few of these, other ones with each commit.
chosen() {
	local commit

	commit=$(git -C "$top" rev-parse HEAD 2>/dev/null) || commit=''
	all_names "$2" | while read -r one; do
		echo "$(cksum <<<"${CHECK_COMMIT:-$commit} $one") $one"
	done | sort | head -n "$1" | sed 's|.* ||'
}
