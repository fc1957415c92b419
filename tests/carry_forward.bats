#!/usr/bin/env bats
#
# carry_forward.sh: this repository's chapters have not drifted; and on a small
# tree of its own, each kind of drift is named, and a fix is carried forward
# without losing anybody's change, into the files that have grown out of others too.
#
# shellcheck disable=SC2030,SC2031 # bats' subshells

load says

# 04 starts from 02. plumbing/log.c is the same everywhere, oob.c first in 02 and carried
# on, main.c a chapter's own.
setup() {
	cd "$BATS_TEST_DIRNAME/.." || return
	TREE=$BATS_TEST_TMPDIR/tree
	table=$TREE/scripts/maint/carry_forward.reborn
	all=(01_one 02_two 03_three 04_four)
	mkdir -p "$TREE/scripts/maint"
	for chapter in "${all[@]}"; do
		mkdir -p "$TREE/$chapter"/{carried,plumbing}
		code "main_of_$chapter" >"$TREE/$chapter/main.c"
		printf '%s\t%s\n' "$chapter" "0$((${chapter:1:1} - 1))" |
			sed '/^04/s/03/02/'
	done >"$TREE/chapters.tsv"
	in_all Makefile 'all:'
	in_all plumbing/log.c 'int log;'
	in_all carried/oob.c 'int oob;'
	rm "$TREE/01_one/carried/oob.c"
	mv "$TREE/02_two/"{carried/,}oob.c
	carry --reconciled {02,03,04}/main.c >/dev/null
}

# in_all FILE TEXT
in_all() {
	for chapter in "${all[@]}"; do
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

carry() {
	scripts/maint/carry_forward.sh -r "$TREE" "$@"
}

# drifts TEXT…: the check fails, and each of this is said.
drifts() {
	run -1 carry --check
	says_each "$@"
}

commit() {
	git init -q "$TREE"
	git -C "$TREE" add -A
	git -C "$TREE" -c user.name=t -c user.email=t@example.org commit -q -m "$1"
}

# bats test_tags=chapters
@test "this repository's chapters have not drifted, and there are some" {
	run -0 scripts/maint/carry_forward.sh --check
	[[ $output =~ ^carried\ forward:\ [1-9][0-9]+\ copies,\ none\ has\ drifted ]]
}

@test "every copy is compared, and drift is named, shown, and the way to mend it said" {
	in_all run.sh true
	for chapter in 02_two 03_three 04_four; do
		echo 'int other;' >"$TREE/$chapter/run.sh"
		drifts "$chapter/run.sh has drifted from 0" '+int other;' \
			'make them in 01_one/run.sh; then' 'carry_forward.sh --force run.sh' \
			"carry_forward.sh --reconciled $chapter/run.sh" \
			"carry_forward.sh --new $chapter/run.sh 'WHY'"
		cp "$TREE/01_one/run.sh" "$TREE/$chapter"
		chmod +x "$TREE/$chapter/run.sh"
		drifts "$chapter/run.sh has drifted" 'only one of them is executable'
		chmod -x "$TREE/$chapter/run.sh"
		run -0 carry --check
	done
}

@test "plumbing is the same in all chapters, and includes nothing else" {
	for chapter in 01_one 04_four; do
		echo '#include "wait.h"' >"$TREE/$chapter/plumbing/wait.c"
		echo 'int wait;' >"$TREE/$chapter/plumbing/wait.h"
	done
	run -0 carry --check
	echo 'int other;' >"$TREE/04_four/plumbing/wait.h"
	drifts '04_four/plumbing/wait.h has drifted from 01_one/plumbing/wait.h' \
		'to the top level'
	[[ $output != *--reconciled* && $output != *--new* ]]
	run -1 carry --reconciled 04/plumbing/wait.h
	says 'what is in plumbing/ is the same in all chapters'
	run -1 carry --new 04/plumbing/wait.h why
	says 'what is in plumbing/ is the same in all chapters'
	run -0 carry --force plumbing/wait.h
	mv "$TREE"/01_one/{plumbing/,}wait.h
	drifts '01_one/plumbing/wait.c includes wait.h, which is not in plumbing/'
	[[ $output != *04_four* ]]
	echo '04_four/plumbing/wait.h 0123456789ab' >>"$table"
	drifts 'carry_forward.reborn:6: 04_four/plumbing/wait.h: what is in plumbing/'
}

@test "what is as in the chapter before stands in carried/, and only that" {
	mv "$TREE/03_three/"{carried/,}oob.c
	drifts '03_three/oob.c belongs in 03_three/carried/oob.c' \
		'git mv 03_three/oob.c 03_three/carried/oob.c'
	[[ $output != *04_four* ]]
	mv "$TREE/03_three/"{,carried/}oob.c
	echo 'int more;' >>"$TREE/04_four/carried/oob.c"
	drifts '04_four/carried/oob.c has drifted from 02_two/oob.c' \
		'git mv 04_four/carried/oob.c 04_four/oob.c; scripts/maint/carry_forward.sh --reconciled 04_four/oob.c'
	run -1 carry --reconciled 04/carried/oob.c
	says 'what is in carried/ is as in the chapter before'
	mv "$TREE/04_four/"{carried/,}oob.c
	run -0 carry --reconciled 04/oob.c
	run -0 carry --check
	echo 'int three;' >"$TREE/03_three/carried/new.c"
	drifts '03_three/carried/new.c belongs in 03_three/new.c'
}

@test "recorded, built and ignored files, prose and exercises are nobody's copies" {
	for chapter in "${all[@]}"; do
		mkdir "$TREE/$chapter"/{expected,break,exercises}
		for file in expected/a.sh break/commands exercises/b.sh README.md; do
			echo "$chapter" >"$TREE/$chapter/$file"
		done
		echo "$chapter" >"$TREE/$chapter/made.c"
	done
	run -1 carry --check
	echo made.c >"$TREE/.gitignore"
	commit start
	run -0 carry --check
}

@test "a fix is carried to every chapter that has the file, and no further" {
	commit start
	echo 'int log = 3;' >"$TREE/01_one/plumbing/log.c"
	chmod +x "$TREE/01_one/plumbing/log.c"
	echo 'int oob = 3;' >"$TREE/02_two/oob.c"
	drifts 'It is an older version. To carry the newer one forward:'
	[[ $output != *--force* ]]
	run -0 carry plumbing/log.c
	says '02_two/plumbing/log.c -> 04_four/plumbing/log.c'
	cmp "$TREE/01_one/plumbing/log.c" "$TREE/03_three/plumbing/log.c"
	[[ -x $TREE/04_four/plumbing/log.c && $(cat "$TREE/03_three/carried/oob.c") == 'int oob;' ]]
	run -0 carry
	says '02_two/oob.c -> 03_three/carried/oob.c'
	run -0 carry --check
	[ ! -e "$TREE/01_one/oob.c" ]
}

@test "a copy's own change is never lost, and then nothing is copied or merged" {
	commit start
	echo 'int log = 4;' >"$TREE/01_one/log.c"
	echo 'int log = 5;' >"$TREE/03_three/log.c"
	edit 01_one/main.c 8 fixed
	cp -r "$TREE/02_two" "$BATS_TEST_TMPDIR"
	run -1 carry
	says '03_three/log.c has drifted'
	says 'nothing was copied'
	diff -r "$TREE/02_two" "$BATS_TEST_TMPDIR/02_two"
	# Committed in the copy, it is still a change that the original lacks.
	commit 'a fix in the wrong place'
	run -1 carry log.c
	[ "$(cat "$TREE/03_three/log.c")" = 'int log = 5;' ]
	run -0 carry --force log.c
	[ "$(cat "$TREE/03_three/log.c")" = 'int log = 4;' ]
}

@test "a fix is merged, from generation to generation, and each keeps its own" {
	commit start
	edit 01_one/main.c 8 fixed
	chmod +x "$TREE/02_two/main.c"
	run -1 carry --check
	run -0 carry main.c
	says '01_one/main.c -> 02_two/main.c: merged; read it: git diff'
	[ -x "$TREE/02_two/main.c" ]
	for chapter in "${all[@]}"; do
		grep -qx 'int fixed;' "$TREE/$chapter/main.c"
		grep -qx "int main_of_$chapter;" "$TREE/$chapter/main.c"
	done
	run -0 carry --check
	run -0 carry
	[ -z "$output" ]
	# Twice before a commit, and where the fix was made by hand.
	edit 01_one/main.c 8 fixed_again
	edit 02_two/main.c 8 fixed_again
	run -0 carry
	says '02_two/main.c: it has the change already'
	grep -qx 'int fixed_again;' "$TREE/04_four/main.c"
}

@test "copies of what has grown out of another get what is merged into that" {
	rm "$TREE"/0[24]*/main.c
	cp "$TREE/01_one/main.c" "$TREE/02_two/carried"
	cp "$TREE/03_three/main.c" "$TREE/04_four/carried"
	sed -i '/^04/s/02/03/' "$TREE/chapters.tsv"
	carry --reconciled all
	[[ $(sed '/^#/d' "$table") == 03_three/main.c* ]]
	commit start
	edit 01_one/main.c 7 checked
	run -0 carry
	grep -qx 'int checked;' "$TREE/02_two/carried/main.c"
	grep -qx 'int main_of_03_three;' "$TREE/04_four/carried/main.c"
	grep -qx 'int checked;' "$TREE/04_four/carried/main.c"
	run -0 carry --check
}

@test "a conflict leaves the file as it was, and says how to go on" {
	commit start
	edit 02_two/main.c 4 theirs
	carry main.c
	edit 01_one/main.c 4 ours
	cp "$TREE/02_two/main.c" "$table" "$BATS_TEST_TMPDIR"
	run -1 carry main.c
	says '01_one/main.c -> 02_two/main.c: a conflict'
	says 'carry_forward.sh --reconciled 02_two/main.c'
	cmp "$TREE/02_two/main.c" "$BATS_TEST_TMPDIR/main.c"
	cmp "$table" "$BATS_TEST_TMPDIR/carry_forward.reborn"
	grep -q '^<<<<<<< 02_two/main.c' "$TREE/build/carry_forward/02_two/main.c"
	# By hand; then the next generation is due.
	edit 02_two/main.c 4 both
	run -0 carry --reconciled 02_two/main.c
	[ ! -e "$TREE/build/carry_forward/02_two/main.c" ]
	drifts '02_two/main.c has changed, and nobody has looked at 03_three/main.c'
	[[ $output != *01_one* ]]
	run -0 carry main.c
	grep -qx 'int both;' "$TREE/03_three/main.c"
	run -0 carry --check
}

@test "an ancestor that has moved on is named until somebody has looked" {
	commit start
	edit 01_one/main.c 8 fixed
	drifts '01_one/main.c has changed, and nobody has looked at 02_two/main.c' \
		'+int fixed;' 'carry_forward.sh main.c' \
		'carry_forward.sh --reconciled 02_two/main.c'
	[[ $output != *03_three* ]]
	run -0 carry --reconciled 02/main.c
	says '02_two/main.c has been compared with 01_one/main.c'
	edit 02_two/main.c 7 more
	run -1 carry --check
	[[ $output == *03_three* && $output == *04_four* ]]
	run -0 carry --reconciled ./03/main.c
	run -1 carry --check
	[[ $output == *04_four* && $output != *03_three* ]]
}

@test "a file that is no copy says from which it has grown, or why from none" {
	commit start
	for file in tls.h run.sh; do
		code one >"$TREE/01_one/$file"
		code three >"$TREE/03_three/$file"
		drifts "03_three/$file has drifted from 01_one/$file"
		run -0 carry --new "03/$file" 'nothing but the name'
		edit "01_one/$file" 8 fixed
		run -0 carry --check
		run -1 carry "$file"
		says "no later chapter has a $file"
		grep -q "^03_three/$file  *new # nothing but the name$" "$table"
		# And then it has one all the same.
		run -0 carry --reconciled "03/$file"
		edit "01_one/$file" 8 fixed_again
		drifts "nobody has looked at 03_three/$file"
		[[ $(cat "$table") != *'nothing but'* ]]
		carry --reconciled "03/$file"
	done
}

@test "an ancestor may have another name, or be of a chapter beside" {
	commit start
	code talk >"$TREE/03_three/talk.c"
	run -1 carry --reconciled 03/talk.c
	says 'no earlier chapter has a talk.c'
	run -0 carry --reconciled 03/talk.c=01/main.c
	sed -i '/talk.c/s/$/ # the half of it/' "$table"
	edit 01_one/main.c 6 fixed
	drifts '01_one/main.c has changed, and nobody has looked at 03_three/talk.c'
	run -0 carry main.c
	grep -qx 'int fixed;' "$TREE/03_three/talk.c"
	grep -q '^03_three/talk.c .* 01_one/main.c # the half of it$' "$table"
	# 04 does not start from 03, and nothing before that has it.
	code other >"$TREE/04_four/talk.c"
	drifts '04_four/talk.c has drifted from 03_three/talk.c'
}

@test "without the history, the check works, and says what it cannot show" {
	local clone=$BATS_TEST_TMPDIR/clone

	commit start
	edit 01_one/main.c 8 fixed
	commit fix
	git clone -q --depth 1 "file://$TREE" "$clone"
	TREE=$clone
	run -1 carry main.c
	says 'cannot be merged into 02_two/main.c'
	says 'git fetch --unshallow'
	run -0 git -C "$clone" status --porcelain
	[ -z "$output" ]
	# Nor without git's folder.
	rm -rf "$clone/.git"
	drifts '01_one/main.c has changed, and nobody has looked at 02_two/main.c' \
		'is not in this clone'
	run -0 carry --reconciled 02/main.c
	run -0 carry --check
}

@test "mistakes in the table are named, and nothing is written" {
	local text hash=0123456789ab

	cp "$table" "$BATS_TEST_TMPDIR/table"
	for text in "02_two/main.c $hash" '01_one/main.c new' '03_three/oob.c' \
		"03_three/oob.c $hash 01_one/log.c 01_one/main.c" \
		"03_three/oob.c $hash 03_three/log.c"; do
		cp "$BATS_TEST_TMPDIR/table" "$table"
		echo "$text" >>"$table"
		run -1 carry --reconciled 02/main.c
		says 'carry_forward.reborn:6: '
	done
	cp "$BATS_TEST_TMPDIR/table" "$table"
	for text in 02/gone.c 03/plumbing/log.c 09/main.c 03/main.c=02/gone.c 03/main.c=04/main.c; do
		run -1 carry --reconciled "$text"
		[ -n "$output" ]
	done
	in_all run.sh true
	run -1 carry --new 03/run.sh why
	says 'is a copy of 01_one/run.sh'
	cmp "$table" "$BATS_TEST_TMPDIR/table"
}

@test "a row that its file has outlived is named, and can be taken out" {
	in_all run.sh true
	commit start
	for row in '02_two/gone.c 0123456789ab' '03_three/run.sh 0123456789ab' \
		'02_two/oob.c new # nobody has one'; do
		echo "$row" >>"$table"
		drifts "${row%% *} has outlived its row"
		run -0 carry --reconciled "${row%% *}"
		run -0 carry --check
	done
	rm "$TREE/03_three/carried/oob.c"
	code talk >"$TREE/03_three/talk.c"
	carry --reconciled 03/talk.c=02/oob.c
	rm "$TREE"/*/{,carried/}oob.c
	drifts '03_three/talk.c has outlived its row'
}

@test "after a merge of two branches, whatever it left, all rows are made anew" {
	{
		echo '<<<<<<< ours'
		echo '# another comment'
		tail -n 1 "$table"
		echo =======
		tail -n 1 "$table" | sed 's/[0-9a-f]\{12\}/0123456789ab/'
		echo '03_three/gone.c 0123456789ab'
		echo '>>>>>>> theirs'
	} >>"$table"
	cp "$table" "$BATS_TEST_TMPDIR/table"
	drifts 'carry_forward.reborn:6: a conflict' 'carry_forward.sh --reconciled all'
	cmp "$table" "$BATS_TEST_TMPDIR/table"
	run -0 carry --reconciled all
	run -0 carry --check
	[ "$(wc -l <"$table")" -eq 5 ]
}

@test "wrong usage ends with 2" {
	run -2 carry --check log.c
	run -2 carry --check --force
	run -2 carry --frobnicate
	run -2 carry --reconciled
	run -2 carry --new 02/main.c
	run -2 carry --new 02/main.c ''
	run -2 scripts/maint/carry_forward.sh -r /nonexistent --check
	run -1 carry nothing.c
	says 'no later chapter has a nothing.c'
	run -0 carry -h
	says 'carry_forward.sh plumbing/log.c'
}
