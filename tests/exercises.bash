# exercises.bash - what the tests of exercises have in common
# shellcheck shell=bash disable=SC2154 # top is of helpers.bash

# Each file of tests has a place of its own, so that two of them can run at a time.
EXERCISE_PLACE=$top/build/tests/exercise/$(basename "${BATS_TEST_FILENAME%.bats}")
[[ $BATS_TEST_FILENAME != */long/* ]] || EXERCISE_PLACE+=.long
export EXERCISE_PLACE PROGRESS=

# copy_of CHAPTER [PATCH…]: makes the folder $copy of its sources with the patches.
copy_of() {
	local file

	copy=$EXERCISE_PLACE/copy
	rm -rf "$copy"
	chapter_update "$top/$1" "$copy"
	for file in "${@:2}"; do
		patch -f -s -d "$copy" -p1 <"$file"
	done
}

# solved CHAPTER NAME: the solution is checked and found complete.
solved() {
	copy_of "$1" "$top/$1/exercises/$2.patch"
	run -0 "$top/scripts/exercise.sh" --check "$1" "$2" "$copy"
	[[ $output == *'things are there' && $output != *missing* ]]
}

# unsolved CHAPTER NAME TEXT: without it, TEXT is said to be missing.
unsolved() {
	EXERCISE_UNTIL=$3 run -1 "$top/scripts/exercise.sh" --check "$1" "$2" "$top/$1"
	is_missing "$3"
}

# is_missing TEXT: the check has said so, in a line of its own.
is_missing() {
	[[ $'\n'$output =~ $'\n'"  missing  $1"( \(|$'\n') ]] || {
		printf 'not said to be missing: %s\n' "$1"
		return 1
	}
}

# header FILE NAME: what stands behind NAME: in the first lines of a wrong solution.
header() {
	sed -n "/^---/q; s/^$2: *//p" "$1"
}

# wrong CHAPTER NAME: each wrong solution in wrong/CHAPTER/NAME is found to lack
# what it says of itself, and not only that something is wrong.
wrong() {
	found_wrong "$1" "$2" "$top/tests/wrong/$1/$2"/*.patch
}

# one_wrong CHAPTER NAME: one of them is, which the hash of the commit chooses.
one_wrong() {
	local all=("$top/tests/wrong/$1/$2"/*.patch) number

	number=$(git -C "$top" rev-parse HEAD 2>/dev/null) || number=''
	number=$(printf '%s' "${CHECK_COMMIT:-$number} $1 $2" | cksum)
	number=$((${number%% *} % ${#all[@]}))
	echo "# ${all[number]#"$top/"}" >&3
	found_wrong "$1" "$2" "${all[number]}"
}

# found_wrong CHAPTER NAME PATCH…
found_wrong() {
	local patch bad=''

	for patch in "${@:3}"; do
		if [ "$(header "$patch" On)" = chapter ]; then
			copy_of "$1" "$patch"
		else
			copy_of "$1" "$top/$1/exercises/$2.patch" "$patch"
		fi
		EXERCISE_UNTIL=$(header "$patch" Missing)
		export EXERCISE_UNTIL
		run "$top/scripts/exercise.sh" --check "$1" "$2" "$copy"
		unset -v EXERCISE_UNTIL
		[ "$status" -eq 1 ] && is_missing "$(header "$patch" Missing)" && continue
		printf '%s: status %d\n%s\n' "$patch" "$status" "$output"
		bad=yes
	done
	[ -z "$bad" ]
}
