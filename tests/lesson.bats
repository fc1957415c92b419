#!/usr/bin/env bats
#
# make lesson: what a chapter adds to the one that it starts from, in the order of
# its README; and what each README says of how long that is. On a small tree of
# its own.
# shellcheck disable=SC2016 # backquotes are Markdown's

setup() {
	TREE=$BATS_TEST_TMPDIR/tree
	git init -q "$TREE"
	cp -r "$BATS_TEST_DIRNAME/../scripts" "$BATS_TEST_DIRNAME/../Makefile" "$TREE"
	cd "$TREE" || return
	chapter 01_one server.c 'cm.[ch]' Makefile
	printf '%s\n' 'int main(void)' '{' '	return 0;' '}' >01_one/server.c
	echo 'int cm;' >01_one/cm.c
	echo 'extern int cm;' >01_one/cm.h
	echo 'int log;' >01_one/plumbing/log.c
}

# chapter NAME FILE…: one whose README has these files in its table.
chapter() {
	local file

	mkdir -p "$1/plumbing"
	echo 'all:' >"$1/Makefile"
	{
		printf '# %s\n\nText.\n\n## The files\n\n| file | lines |\n|---|---|\n' "$1"
		for file in "${@:2}"; do
			printf '| `%s` | 1 |\n' "$file"
		done
		printf '\n## Next\n\n| `other.c` | 1 |\n'
	} >"$1/README.md"
}

# A second chapter: one file changed, one new, one gone, one the same, and one
# that comes out of the plumbing.
second() {
	chapter 02_two new.c 'server.c' 'log.c'
	sed 's/return 0/return 1/' 01_one/server.c >02_two/server.c
	seq 20 >>02_two/server.c
	seq 20 >>01_one/server.c
	echo 'int new;' >02_two/new.c
	cp 01_one/cm.c 02_two
	printf '%s\n' 'int log;' 'int more;' >02_two/log.c
	echo 'int wait;' >02_two/plumbing/wait.c
	mkdir 02_two/load
	echo 'int load;' >02_two/load/crowd.c
}

titles() {
	grep '^===' <<<"$output"
}

@test "of a later chapter what is changed, new and gone is printed" {
	second
	run -0 scripts/lesson.sh 2
	[ "$(titles)" = '=== 02_two/new.c, new, 1 lines
=== 02_two/server.c, changed
=== 02_two/log.c, changed so much that it is printed whole: 2 lines
=== no longer here: cm.h' ]
	[[ $output == *$'\n--- 01_one/server.c\n+++ 02_two/server.c\n@@'* ]]
	[[ $output == *$'\n-\treturn 0;\n+\treturn 1;\n'* ]]
	[[ $output == *$'\n02_two: 3 lines added, 1 removed. Not printed:\n'* ]]
	[[ $output == *$'\n  plumbing/: 1 files, 1 lines\n'* ]]
	[[ $output == *$'\n  load/: 1 files, 1 lines\n'* ]]
	[[ $output == *$'\n  as in 01_one: 1 files, 1 lines\nWith the README, 5 minutes to read (200 words, 15 lines of code a minute).' ]]
	[[ $output != *'int load'* && $output != *$'\033'* ]]
}

# The second chapter's table, with parts.
parts() {
	second
	sed -i -e '/^| file/s/$/ part |/' -e 's/^| `new.c.*/& 1 |/' \
		-e 's/^| `server.c.*/& 2 |/' -e 's/^| `log.c.*/& 2 |/' 02_two/README.md
}

@test "a lesson in parts is printed by part, or whole" {
	parts
	run -0 make -s lesson CH=02 PART=1
	[ "$(titles)" = '=== 02_two/new.c, new, 1 lines
=== no longer here: cm.h' ]
	run -0 make -s lesson CH=02 PART=2
	[ "$(titles | grep -c .)" -eq 2 ]
	run -0 make -s lesson CH=02
	[ "$(titles | grep -c .)" -eq 4 ]
	run -2 scripts/lesson.sh 2 3
	[[ $output == 'lesson: 02_two has no part 3; there is: 1 2' ]]
	run -2 scripts/lesson.sh 1 1
	[[ $output == 'lesson: 01_one has no part 1; its lesson has no parts' ]]
	run -2 scripts/lesson.sh 9
	run -2 scripts/lesson.sh 1 2 3
}

@test "how long a program of one file takes, with the text that goes through it" {
	seq 30 >01_one/first.c
	{
		printf '# 01\n\n'
		printf 'word %.0s' {1..97}
		printf '\n## Told\n\n```c file=first.c\n1\n2\n```\n\nLast.\n'
		printf '\n## Next\n\n'
		printf 'word %.0s' {1..500}
	} >01_one/README.md
	run -0 make -s lesson CH=01
	[[ $output == *$'\nOf these, first.c: 30 lines and 102 words, 2.5 minutes.' ]]
	second
	run -0 make -s lesson CH=02
	[[ $output != *'Of these'* ]]
}

@test "each chapter's README says how long its lesson is" {
	parts
	run -1 scripts/maint/docs.py --check
	[[ $output == *"02_two/README.md is not up to date"*$'\n\t`make lesson CH=02` prints what is new here since 01_one: 20 lines (PART=1: 4, PART=2: 16), of which 3 are new. With this text, 5 minutes to read.'* ]]
	run -0 scripts/maint/docs.py
	[ "$(sed -n 1,5p 01_one/README.md)" = '# 01_one

`make lesson CH=01` prints this chapter'"'"'s code in reading order: 35 lines. With this text, 5 minutes to read.

Text.' ]
	[ "$(scripts/lesson.sh 1 | sed '/lines added/,$d' | head -n -1 | wc -l)" -eq 35 ]
	run -0 scripts/maint/docs.py --check
	# 1,000 words and 60 lines more.
	printf 'word %.0s' {1..1000} >>01_one/README.md
	for _ in {1..60}; do echo 'int more;'; done >>01_one/log.c
	run -1 scripts/maint/docs.py --check
	[[ $output == *' lines. With this text, 10 minutes to read.'* ]]
	echo 'int more;' >>02_two/new.c
	run -1 scripts/maint/docs.py --check
	run -0 scripts/maint/docs.py
	[ "$(grep -c 'make lesson' 02_two/README.md)" -eq 1 ]
	run -2 scripts/maint/docs.py --nonsense
}
