#!/usr/bin/env bats
#
# carry_forward.sh: this repository's chapters have not drifted; and on a small
# tree of its own, each kind of drift is named, and a fix is carried forward
# without losing anybody's change, into the files that were born again too.
#
# shellcheck disable=SC2016,SC2030,SC2031 # bats' subshells; backquotes as said

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
		code "main_of_$chapter" >"$TREE/$chapter/main.c"
	done
	record=$TREE/scripts/maint/carry_forward.reborn
	printf '# What was born again.\n\n' >"$record"
	born_from 02_two/main.c 01_one/main.c
	born_from 03_three/main.c 02_two/main.c
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

# code WORD: eight lines, the first of them with WORD.
code() {
	printf 'int %s;\n' "$1" a b c d e f g
}

# edit CHAPTER/FILE LINE WORD: another line of code in it.
edit() {
	sed -i "$2s/.*/int $3;/" "$TREE/$1"
}

# born_from CHAPTER/FILE ANCESTOR: as the ancestor is now.
born_from() {
	echo "$1 $2 $(git hash-object "$TREE/$2")" >>"$record"
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

@test "every copy is compared, not only the first" {
	local chapter

	in_all wait.c 'int wait;'
	mkdir "$TREE/04_four"
	cp "$TREE/01_one/"{log.c,wait.c} "$TREE/04_four"
	printf '%s 01_one 02_two 03_three 04_four\n' log.c wait.c \
		>"$TREE/scripts/maint/carry_forward.manifest"
	rm "$TREE"/*/oob.c
	run -0 carry --check
	for chapter in 02_two 03_three 04_four; do
		echo 'int other;' >"$TREE/$chapter/wait.c"
		run -1 carry --check
		says "$chapter/wait.c has drifted from 01_one/wait.c"
		rm "$TREE/$chapter/wait.c"
		run -1 carry --check
		says "$chapter/wait.c is missing"
		cp "$TREE/01_one/wait.c" "$TREE/$chapter"
		chmod +x "$TREE/$chapter/wait.c"
		run -1 carry --check
		says "$chapter/wait.c has drifted"
		chmod -x "$TREE/$chapter/wait.c"
		run -0 carry --check
	done
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
	carry --reconciled 02/wait.c 03/wait.c
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
	echo '03_three/oob.c new # the one is plain' >>"$record"
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
	[[ ${lines[2]} =~ ^main.c\ +B\ +R\ +R$ ]]
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

@test "a fix is merged into what was born again, which keeps its own" {
	commit start
	edit 01_one/main.c 8 fixed
	chmod +x "$TREE/02_two/main.c"
	run -1 carry --check
	run -0 carry main.c
	says '01_one/main.c -> 02_two/main.c: merged; read it: git diff'
	grep -qx 'int fixed;' "$TREE/02_two/main.c"
	grep -qx 'int main_of_02_two;' "$TREE/02_two/main.c"
	[ -x "$TREE/02_two/main.c" ]
	grep -qx 'int fixed;' "$TREE/03_three/main.c"
	run -0 carry --check
	says 'born again: 2, all looked at'
	run -0 carry
	[ -z "$output" ]
	# Twice before a commit, and where the fix was made by hand.
	edit 01_one/main.c 8 fixed_again
	edit 02_two/main.c 8 fixed_again
	run -0 carry
	says '02_two/main.c: it has the change already'
	grep -qx 'int fixed_again;' "$TREE/03_three/main.c"
	[ "$(head -n 1 "$record")" = '# What was born again.' ]
}

@test "from generation to generation, and to the copies of each" {
	local chapter

	mkdir "$TREE"/0{4_four,5_five}
	for chapter in 01_one 02_two; do code plain >"$TREE/$chapter/tls.c"; done
	for chapter in 03_three 04_four; do code tls >"$TREE/$chapter/tls.c"; done
	code many >"$TREE/05_five/tls.c"
	printf 'tls.c %s\n' '01_one 02_two' '03_three 04_four' \
		>>"$TREE/scripts/maint/carry_forward.manifest"
	born_from 03_three/tls.c 01_one/tls.c
	born_from 05_five/tls.c 03_three/tls.c
	commit start
	run -0 carry --check
	edit 01_one/tls.c 7 checked
	run -0 carry tls.c
	for chapter in 01_one 02_two 03_three 04_four 05_five; do
		grep -qx 'int checked;' "$TREE/$chapter/tls.c"
	done
	[ "$(head -qn 1 "$TREE"/*/tls.c | paste -sd ' ')" = \
		'int plain; int plain; int tls; int tls; int many;' ]
	run -0 carry --check
}

@test "a conflict leaves the file as it was, and says how to go on" {
	commit start
	edit 02_two/main.c 4 theirs
	carry main.c
	edit 01_one/main.c 4 ours
	cp "$TREE/02_two/main.c" "$BATS_TEST_TMPDIR/before"
	cp "$record" "$BATS_TEST_TMPDIR/record"
	run -1 carry main.c
	says '01_one/main.c -> 02_two/main.c: a conflict'
	says 'carry_forward.sh --reconciled 02_two/main.c'
	cmp "$TREE/02_two/main.c" "$BATS_TEST_TMPDIR/before"
	cmp "$record" "$BATS_TEST_TMPDIR/record"
	grep -q '^<<<<<<< 02_two/main.c' "$TREE/build/carry_forward/02_two/main.c"
	run -1 carry --check
	says '01_one/main.c has changed'
	# By hand; then the next generation is due.
	edit 02_two/main.c 4 both
	run -0 carry --reconciled 02_two/main.c
	[ ! -e "$TREE/build/carry_forward/02_two/main.c" ]
	run -1 carry --check
	says '02_two/main.c has changed, and nobody has looked at 03_three/main.c'
	[[ $output != *01_one* ]]
	# Its first line and this are no conflict.
	run -0 carry main.c
	grep -qx 'int both;' "$TREE/03_three/main.c"
	run -0 carry --check
}

@test "an ancestor that has moved on is named until somebody has looked" {
	commit start
	edit 01_one/main.c 8 fixed
	run -1 carry --check
	says '01_one/main.c has changed, and nobody has looked at 02_two/main.c'
	says '+int fixed;'
	says 'scripts/maint/carry_forward.sh main.c'
	says 'scripts/maint/carry_forward.sh --reconciled 02_two/main.c'
	[[ $output != *03_three* ]]
	run -0 carry --reconciled 02/main.c
	says '02_two/main.c has been compared with 01_one/main.c'
	run -0 carry --check
	edit 01_one/main.c 8 fixed_again
	run -1 carry --check
	# Several at a time, and the versions are those of the work tree.
	edit 02_two/main.c 7 more
	run -1 carry --check
	says '--reconciled 02_two/main.c 03_three/main.c'
	run -0 carry --reconciled 02_two/main.c ./03/main.c
	run -0 carry --check
	grep -q "^03_three/main.c .* $(git hash-object "$TREE/02_two/main.c")$" \
		"$record"
}

@test "whoever bears a file anew says from which, or why from none" {
	local file

	commit start
	for file in tls.c tls.h run.sh Makefile; do
		code one >"$TREE/01_one/$file"
		code three >"$TREE/03_three/$file"
		run -1 carry --check
		says "03_three/$file is neither a copy nor known to be born again"
		says "--reconciled 03_three/$file"
		says "--new 03_three/$file 'WHY'"
		run -0 carry --new "03/$file" 'nothing but the name'
		run -0 carry --check
		# What has no ancestor is not asked about, nor merged into.
		edit "01_one/$file" 8 fixed
		run -0 carry --check
		run -0 carry "$file"
		[ -z "$output" ]
		grep -q "^03_three/$file  *new  *# nothing but the name$" "$record"
		# And then it has one all the same.
		run -0 carry --reconciled "03/$file"
		edit "01_one/$file" 8 fixed_again
		run -1 carry --check
		says "nobody has looked at 03_three/$file"
		[[ $(cat "$record") != *'nothing but'* ]]
		run -0 carry --reconciled "03/$file"
	done
	# Prose and recorded runs are nobody's copy.
	echo one >"$TREE/01_one/README.md"
	echo three >"$TREE/03_three/README.md"
	run -0 carry --check
}

@test "an ancestor may have another name" {
	commit start
	code talk >"$TREE/03_three/talk.c"
	run -1 carry --reconciled 03/talk.c
	says 'no earlier chapter has a talk.c'
	run -0 carry --reconciled 03/talk.c=01/main.c
	sed -i '/talk.c/s/$/ # the half of it/' "$record"
	edit 01_one/main.c 6 fixed
	run -1 carry --check
	says '01_one/main.c has changed, and nobody has looked at 03_three/talk.c'
	run -0 carry main.c
	grep -qx 'int fixed;' "$TREE/03_three/talk.c"
	run -0 carry --check
	grep -q '^03_three/talk.c .* # the half of it$' "$record"
}

@test "without the history, the check works, and says what it cannot show" {
	local clone=$BATS_TEST_TMPDIR/clone

	commit start
	edit 01_one/main.c 8 fixed
	commit fix
	git clone -q --depth 1 "file://$TREE" "$clone"
	TREE=$clone
	run -1 carry --check
	says '01_one/main.c has changed, and nobody has looked at 02_two/main.c'
	says 'is not in this clone'
	says 'git fetch --unshallow'
	run -1 carry main.c
	says 'cannot be merged into 02_two/main.c'
	says 'carry_forward.sh --reconciled 02_two/main.c'
	run -0 git -C "$clone" status --porcelain
	[ -z "$output" ]
	record=$clone/scripts/maint/carry_forward.reborn
	run -0 carry --reconciled 02/main.c
	run -0 carry --check
	# Nor without git's folder.
	rm -rf "$clone/.git"
	run -0 carry --check
	edit 01_one/main.c 8 fixed_again
	run -1 carry --check
	says 'nobody has looked at 02_two/main.c'
}

@test "nothing is merged either where a copy's change would be lost" {
	commit start
	edit 01_one/main.c 8 fixed
	echo 'int log = 5;' >"$TREE/03_three/log.c"
	cp -r "$TREE/02_two" "$BATS_TEST_TMPDIR"
	run -1 carry
	says 'nothing was copied'
	diff -r "$TREE/02_two" "$BATS_TEST_TMPDIR/02_two"
}

@test "mistakes in what was born again are named, and nothing is written" {
	local hash text
	hash=$(git hash-object "$TREE/01_one/main.c")
	local lines=("02_two/main.c 01_one/main.c $hash"
		'01_one/main.c new' '01_one/main.c 02_two/main.c'
		"01_one/main.c 02_two/main.c $hash"
		"01_one/main.c 01_one/main.c $hash" '03_three/oob.h')
	echo 'int oob;' >"$TREE/03_three/oob.h"
	cp "$record" "$BATS_TEST_TMPDIR/record"
	for text in "${lines[@]}"; do
		cp "$BATS_TEST_TMPDIR/record" "$record"
		printf '%s\n' "$text" >>"$record"
		run -1 carry --check
		says 'carry_forward.reborn:5: '
	done
	cp "$BATS_TEST_TMPDIR/record" "$record"
	for text in 02/gone.c 03/log.c 09/main.c 03/oob.h 03/oob.h=02/gone.h \
		03/oob.h=03/main.c 03/oob.h=02/log.c; do
		run -1 carry --reconciled "$text"
		[ -n "$output" ]
	done
	run -1 carry --new 03/log.c why
	says 'is a copy of 01_one/log.c'
	cmp "$record" "$BATS_TEST_TMPDIR/record"
}

@test "what the tree has outlived is named, and keeps nothing from being done" {
	local hash text
	hash=$(git hash-object "$TREE/01_one/main.c")

	commit start
	echo 'int oob;' >"$TREE/03_three/oob.h"
	for text in "02_two/gone.c 01_one/main.c $hash" \
		'03_three/log.c new # it was' "03_three/oob.h 02_two/gone.h $hash"
	do
		echo "$text" >>"$record"
		run -1 carry --check
		says 'carry_forward.reborn:5: '
		edit 01_one/main.c 8 "fixed_by_${#text}"
		run -0 carry
		grep -qx "int fixed_by_${#text};" "$TREE/03_three/main.c"
		# Whatever is written, it is without what is not there.
		[[ $text == *gone.h* || $(cat "$record") != *"${text%% *}"* ]]
	done
	run -1 carry --reconciled 03/oob.h
	run -0 carry --reconciled 03/oob.h=01/main.c
	run -0 carry --check
	run -0 carry --new 03/oob.h 'another matter'
	# 02's is a copy again: what was born from it was born from the original.
	cp "$TREE/01_one/main.c" "$TREE/02_two/main.c"
	echo 'main.c 01_one 02_two' >>"$TREE/scripts/maint/carry_forward.manifest"
	run -1 carry --check
	says '01_one/main.c has changed, and nobody has looked at 03_three/main.c'
	run -0 carry --reconciled 03/main.c
	commit 'a copy again'
	edit 01_one/main.c 7 fixed_last
	run -0 carry main.c
	grep -qx 'int fixed_last;' "$TREE/03_three/main.c"
	grep -q '^03_three/main.c *01_one/main.c ' "$record"
	run -0 carry --check
}

@test "wrong usage ends with 2" {
	run -2 carry --check log.c
	run -2 carry --size 01
	run -2 carry --check --list
	run -2 carry --frobnicate
	run -2 carry --reconciled
	run -2 carry --new 02/main.c
	run -2 carry --new 02/main.c ''
	run -2 scripts/maint/carry_forward.sh -r /nonexistent --check
	run -1 carry nothing.c
	says 'nothing.c is not in scripts/maint/carry_forward.manifest'
	run -0 carry -h
	says 'carry_forward.sh log.c'
}
