#!/usr/bin/env bats
#
# carry_forward.sh: this repository's chapters have not drifted; and on a small
# tree of its own, each kind of drift is named, and a fix is carried forward
# without losing anybody's change.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_DIRNAME/.." || return
	TREE=$BATS_TEST_TMPDIR/tree
	mkdir -p "$TREE"/{scripts/maint,01_one,02_two,03_three}
	printf '%s\n' 'log.c 01_one 02_two 03_three  # everywhere' '' \
		'oob.c 02_two 03_three' >"$TREE/scripts/maint/carry_forward.manifest"
	in_all log.c 'int log;'
	rm -f "$TREE/01_one/oob.c"
	for chapter in 02_two 03_three; do
		echo 'int oob;' >"$TREE/$chapter/oob.c"
	done
	for chapter in 01_one 02_two 03_three; do
		echo "int main_of_$chapter;" >"$TREE/$chapter/main.c"
	done
}

# Shown for a test that failed.
teardown() {
	printf 'status %s, output:\n%s\n' "${status:-none}" "${output:-}"
}

# in_all FILE TEXT
in_all() {
	local chapter

	for chapter in 01_one 02_two 03_three; do
		echo "$2" >"$TREE/$chapter/$1"
	done
}

carry() {
	scripts/maint/carry_forward.sh -r "$TREE" "$@"
}

commit() {
	[ -d "$TREE/.git" ] || git init -q "$TREE"
	git -C "$TREE" add -A
	git -C "$TREE" -c user.name=t -c user.email=t@example.org \
		commit -q -m "$1"
}

says() {
	[[ $output == *"$1"* ]] || {
		printf 'not said: %s\nsaid:\n%s\n' "$1" "$output"
		return 1
	}
}

@test "this repository's chapters have not drifted, and there are some" {
	local chapters=([0-9][0-9]_*/Makefile)
	[ -e "${chapters[0]}" ]
	run -0 scripts/maint/carry_forward.sh --check
	says 'none has drifted'
}

@test "a tree without drift passes, in git and out of it" {
	run -0 carry --check
	says '2 files, none has drifted'
	commit start
	run -0 carry --check
	run -0 carry
	[ -z "$output" ]
}

@test "drift is named, shown, and the way to mend it said" {
	echo 'int log = 1;' >"$TREE/02_two/log.c"
	run -1 carry --check
	says '02_two/log.c has drifted from 01_one/log.c'
	says '+int log = 1;'
	says 'scripts/maint/carry_forward.sh --force log.c'
	[[ $output != *03_three/log.c* ]]
}

@test "an older committed version is told from a change of its own" {
	commit start
	echo 'int log = 2;' >"$TREE/01_one/log.c"
	commit fix
	run -1 carry --check
	says '02_two/log.c has drifted'
	says 'It is an older version.'
	says 'scripts/maint/carry_forward.sh log.c'
}

@test "a missing copy, a missing original and a mode bit are drift" {
	rm "$TREE/03_three/oob.c"
	run -1 carry --check
	says '03_three/oob.c is missing'
	echo 'int oob;' >"$TREE/03_three/oob.c"
	chmod +x "$TREE/03_three/oob.c"
	run -1 carry --check
	says 'only one of them is executable'
	rm "$TREE/02_two/oob.c"
	run -1 carry --check
	says 'no 02_two/oob.c'
	run -1 carry oob.c
}

@test "what two chapters share and the manifest has not must be listed" {
	in_all wait.c 'int wait;'
	run -1 carry --check
	says '`wait.c 01_one 02_two`'
	says '`wait.c 02_two 03_three`'
	sed -i '1s/03_three//' "$TREE/scripts/maint/carry_forward.manifest"
	run -1 carry --check
	says 'log.c is the same in 02_two and 03_three; add 03_three to its line'
	sed -i '1s/$/ 03_three/; 1s/#.* / /' "$TREE/scripts/maint/carry_forward.manifest"
	echo 'int other;' >"$TREE/02_two/wait.c"
	# 01 and 03 are no neighbours.
	run -0 carry --check
}

@test "recorded, built and ignored files need not be listed" {
	mkdir -p "$TREE"/0{1_one,2_two}/{expected,break}
	for chapter in 01_one 02_two; do
		echo same >"$TREE/$chapter/expected/server.log"
		echo same >"$TREE/$chapter/break/commands"
		echo same >"$TREE/$chapter/log.o"
	done
	run -0 carry --check
	for chapter in 01_one 02_two; do
		echo same >"$TREE/$chapter/server"
	done
	run -1 carry --check
	printf '*.o\nserver\n' >"$TREE/.gitignore"
	commit start
	run -0 carry --check
}

@test "a fix is carried to every chapter that has the file, and no further" {
	commit start
	echo 'int log = 3;' >"$TREE/01_one/log.c"
	echo 'int oob = 3;' >"$TREE/02_two/oob.c"
	run -0 carry log.c
	says '01_one/log.c -> 02_two/log.c'
	says '01_one/log.c -> 03_three/log.c'
	cmp "$TREE/01_one/log.c" "$TREE/03_three/log.c"
	[ "$(cat "$TREE/03_three/oob.c")" = 'int oob;' ]
	run -0 carry
	[ "$output" = '02_two/oob.c -> 03_three/oob.c' ]
	run -0 carry --check
	[ ! -e "$TREE/01_one/oob.c" ]
}

@test "a file that is born again is carried from its new birth" {
	printf '%s\n' 'oob.c 01_one 02_two' >"$TREE/scripts/maint/carry_forward.manifest"
	echo 'oob.c 03_three 04_four' >>"$TREE/scripts/maint/carry_forward.manifest"
	mkdir "$TREE/04_four"
	echo 'int plain;' >"$TREE/01_one/oob.c"
	echo 'int tls;' >"$TREE/03_three/oob.c"
	rm "$TREE"/*/log.c "$TREE/02_two/oob.c"
	run -0 carry oob.c
	[ "$(cat "$TREE/02_two/oob.c")" = 'int plain;' ]
	[ "$(cat "$TREE/04_four/oob.c")" = 'int tls;' ]
	run -0 carry --check
}

@test "a copy's own change is never lost, and then nothing at all is copied" {
	commit start
	echo 'int log = 4;' >"$TREE/01_one/log.c"
	echo 'int log = 5;' >"$TREE/03_three/log.c"
	run -1 carry
	says '03_three/log.c has drifted'
	says 'nothing was copied'
	[ "$(cat "$TREE/02_two/log.c")" = 'int log;' ]
	[ "$(cat "$TREE/03_three/log.c")" = 'int log = 5;' ]
	# Committed in the copy, it is still a change that the original lacks.
	commit 'a fix in the wrong place'
	run -1 carry log.c
	run -0 carry --force log.c
	[ "$(cat "$TREE/03_three/log.c")" = 'int log = 4;' ]
}

@test "a missing copy is made, and the right to execute is carried too" {
	rm "$TREE/03_three/log.c"
	run -0 carry log.c
	cmp "$TREE/01_one/log.c" "$TREE/03_three/log.c"
	commit start
	chmod +x "$TREE/01_one/log.c"
	run -0 carry log.c
	[ -x "$TREE/02_two/log.c" ]
	run -0 carry --check
}

@test "mistakes in the manifest are named with their line" {
	local lines=('log.c' 'log.c 01_one' 'log.c 01_one 09_nine'
		'log.c 02_two 01_one' 'log.c 01_one 01_one'
		$'log.c 01_one 02_two\nlog.c 02_two 03_three')
	for text in "${lines[@]}"; do
		printf '\n%s\n' "$text" >"$TREE/scripts/maint/carry_forward.manifest"
		run -1 carry --check
		says 'carry_forward.manifest:'
	done
	rm "$TREE/scripts/maint/carry_forward.manifest"
	run -2 carry --check
}

@test "--list shows where a file was born and where it is carried" {
	run -0 carry --list
	[[ ${lines[0]} =~ ^file\ +01_one\ +02_two\ +03_three$ ]]
	[[ ${lines[1]} =~ ^log.c\ +B\ +=\ +=$ ]]
	[[ ${lines[2]} =~ ^main.c\ +B\ +B\ +B$ ]]
	[[ ${lines[3]} =~ ^oob.c\ +\.\ +B\ +=$ ]]
}

@test "--size counts what diff shows of the C files" {
	run -0 carry --size 01 02_two/
	[ "$output" = '`diff -r 01_one 02_two` changes 2 C files: 2 lines added, 1 removed.' ]
	echo words >"$TREE/02_two/README.md"
	printf 'int a;\nint b;\n' >"$TREE/01_one/old.h"
	run -0 carry --size 01_one 02
	says 'changes 3 C files: 2 lines added, 3 removed.'
	run -0 carry --size 02 02
	says 'changes 0 C files: 0 lines added, 0 removed.'
	run -2 carry --size 01 09
	says 'no one chapter is named 09'
}

@test "wrong usage ends with 2" {
	run -2 carry --check log.c
	run -2 carry --size 01
	run -2 carry --check --list
	run -2 carry --frobnicate
	run -2 scripts/maint/carry_forward.sh -r /nonexistent --check
	run -1 carry nothing.c
	says 'nothing.c is not in scripts/maint/carry_forward.manifest'
	run -0 carry -h
	says 'carry_forward.sh log.c'
}
