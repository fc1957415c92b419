#!/usr/bin/env bats
#
# unit.bats - what a unit test asks of a module, it asks of each version of the
# module that a chapter has: the table in tests/unit/Makefile has forgotten none

# shellcheck disable=SC2030,SC2031 # in the subshells of bats

setup() {
	top=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
	unit=$top/tests/unit
	# shellcheck source=scripts/lib/chapter.sh
	source "$top/scripts/lib/chapter.sh"
	# Where there is a CM, that makes the connection, and else the module does: a
	# made-up device tests the latter, and tests on a real one the former
	# (test_01_bad_days.py, test_peers.py).
	on_a_device=" $(chapters_where 'devices ~ /siw/' 'chapter "/conn.c"' | tr '\n' ' ')"
}

# module SOURCE: what a unit test is of: the first header that it includes.
module() {
	sed -n '/^#include "/{s/^#include "\(.*\)\.h"/\1/p;q}' "$unit/$1"
}

# version CHAPTER MODULE: the file with its version of the module, if it has one.
version() {
	local file

	for file in "$top/$1"/{,carried/,plumbing/}"$2.c"; do
		[[ ! -e $file ]] || echo "$file"
	done
}

# untested: the modules that have a test, in the chapters whose version has none.
untested() {
	local program source name chapter file sum
	local -A tested=() modules=()

	while read -r program source; do
		name=$(module "$source")
		chapter=$(cd "$top" && echo "${program:5:2}"_*)
		file=$(version "$chapter" "$name")
		[[ -n $file ]] || continue
		modules[$name]=1
		tested[$name $(md5sum <"$file")]=1
	done < <(make -s -C "$unit" list)
	for file in "$top"/[0-9][0-9]_*/{,carried/,plumbing/}*.c; do
		name=$(basename "$file" .c) sum=$(md5sum <"$file")
		chapter=${file#"$top"/} chapter=${chapter%%/*}
		[[ -z ${modules[$name]:-} ||
			$on_a_device == *" $chapter/$name.c "* ||
			-n ${tested[$name $sum]:-} ]] ||
			echo "$chapter/$name.c"
	done
	echo "${#modules[@]} modules have tests"
}

# bats test_tags=chapters
@test "each version of a module that has unit tests is in one of them" {
	run -0 untested
	echo "$output"
	[[ ${#lines[@]} -eq 1 && ${lines[0]%% *} -ge 30 ]]
}

@test "a chapter that bears such a module anew is noticed" {
	mkdir -p "$BATS_TEST_TMPDIR/copy/tests"
	cp -r "$top"/[0-9][0-9]_* "$BATS_TEST_TMPDIR/copy"
	cp -r "$unit" "$BATS_TEST_TMPDIR/copy/tests"
	top=$BATS_TEST_TMPDIR/copy unit=$top/tests/unit
	echo '/* another */' >>"$top/04_tls_psn/carried/state.c"
	run -0 untested
	echo "$output"
	[[ ${lines[0]} == 04_tls_psn/state.c && ${#lines[@]} -eq 2 ]]
}
