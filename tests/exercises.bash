# exercises.bash - what the tests of exercises have in common
# shellcheck shell=bash disable=SC2154 # top is of helpers.bash

# solved CHAPTER NAME: the solution is checked and found complete.
solved() {
	local copy=$top/build/tests/exercise.$2 file

	rm -rf "$copy"
	mkdir -p "$copy"
	for file in "$top/$1"/*.[ch] "$top/$1"/{Makefile,*.sh}; do
		[ ! -e "$file" ] || cp "$file" "$copy"
	done
	patch -s -d "$copy" -p1 <"$top/$1/exercises/$2.patch"
	run -0 "$top/scripts/exercise.sh" "$1" "$2" "$copy"
	[[ $output == *'things are there' && $output != *missing* ]]
}
