#!/usr/bin/env bats
#
# check_chapters.sh: this repository keeps the house rules; and on a small tree
# of its own, each way to break one is found.

load says

setup() {
	cd "$BATS_TEST_DIRNAME/.." || return
	TREE=$BATS_TEST_TMPDIR/tree
}

# This repository must pass the check, and must have something to check.
keeps() {
	local chapters=([0-9][0-9]_*/Makefile)

	[ -f "${chapters[0]}" ] || {
		echo 'there is no chapter, so nothing was checked'
		return 1
	}
	# Of the chapters that are asked for alone, if CHECK_CHAPTERS says so.
	run -0 scripts/maint/check_chapters.sh -c "${CHECK_CHAPTERS:-}" "$1"
	[ -z "$output" ]
}

# A tree with one chapter that keeps every rule.
small_tree() {
	local name

	mkdir -p "$TREE/01_one" "$TREE/scripts"
	cp .clang-format "$TREE"
	for name in server client; do
		printf '/*\n * %s.c - nothing\n */\n' \
			"$name" >"$TREE/01_one/$name.c"
		printf 'int main(void)\n{\n\treturn 0;\n}\n' \
			>>"$TREE/01_one/$name.c"
	done
	printf 'all: server client\n' >"$TREE/01_one/Makefile"
	printf '#!/bin/bash\n# a.sh - says a\necho a\n' >"$TREE/scripts/a.sh"
	printf '# Title\n\nSome words.\n' >"$TREE/README.md"
}

check() {
	scripts/maint/check_chapters.sh -r "$TREE" "$@"
}

# finds CHECK FILE TEXT: the check fails, and names the file and the matter.
finds() {
	run -1 check "$1"
	says "$2"
	says "$3"
}

# bats test_tags=chapters
@test "each chapter builds alone with gcc and clang without a warning" {
	keeps build
}

# bats test_tags=chapters
@test "nothing in a chapter reaches out of it, and it has the licence" {
	keeps makefile
	for chapter in [0-9][0-9]_*/; do
		cmp LICENSE "$chapter/LICENSE"
		grep -qx '# SPDX-License-Identifier: MIT' "$chapter/Makefile"
	done
}

# bats test_tags=chapters
@test "no file is longer than one reads at a sitting" {
	keeps length
}

# bats test_tags=chapters
@test "C is formatted" {
	keeps format
}

# bats test_tags=chapters
@test "shellcheck has nothing to say" {
	keeps shell
}

# bats test_tags=chapters
@test "whitespace is in order" {
	keeps whitespace
}

# bats test_tags=chapters
@test "files say what they are for" {
	keeps headers
}

# bats test_tags=chapters
@test "a message is one string" {
	keeps messages
}

# bats test_tags=chapters
@test "nothing is left to do, claimed or shouted" {
	keeps words
}

@test "a tree that keeps the rules passes, in git and out of it" {
	small_tree
	run -0 check
	[ -z "$output" ]
	git init -q "$TREE"
	run -0 check makefile length format shell whitespace headers messages words
	[ -z "$output" ]
}

@test "a chapter that needs a file of another, or warns, does not build" {
	small_tree
	echo 'int unused(void) { int x; return 0; }' >>"$TREE/01_one/client.c"
	finds build 01_one 'does not build alone with gcc'
	says 'does not build alone with clang'
	says 'unused variable'
	small_tree
	# Not even where the Makefile drops -Werror.
	printf 'override CFLAGS = -Wall\nall: server client\n' \
		>"$TREE/01_one/Makefile"
	echo 'static int x;' >>"$TREE/01_one/client.c"
	finds build 01_one 'warnings with gcc'
	small_tree
	mkdir "$TREE/02_two"
	cp "$TREE"/01_one/*.c "$TREE/02_two"
	echo 'include ../01_one/Makefile' >"$TREE/02_two/Makefile"
	finds build 02_two 'does not build alone'
	finds makefile 02_two/Makefile:1 'reaches out of the chapter'
	small_tree
	echo 'all: server' >"$TREE/01_one/Makefile"
	finds build 01_one 'no server and client'
}

@test "a walkthrough of 2801 words is found; 06 may have 4000" {
	small_tree
	mkdir -p "$TREE/06_six"
	printf 'word %.0s' {1..2800} >"$TREE/01_one/README.md"
	printf 'word %.0s' {1..4000} >"$TREE/06_six/README.md"
	run -0 check length
	echo more >>"$TREE/06_six/README.md"
	finds length 06_six/README.md '4001 words'
	printf 'word %.0s' {1..4000} >"$TREE/06_six/README.md"
	echo more >>"$TREE/01_one/README.md"
	finds length 01_one/README.md '2801 words'
}

@test "a message that goes on in the next line is found; a text in lines is not" {
	small_tree
	cat >>"$TREE/01_one/client.c" <<'END'

const char *texts[] = {
	"one, \"two",
	"the first line\n"
	"the second line\n",
	"number %" PRIu64
	" and more",
};
END
	run -0 check messages
	sed -i 's/^\t"one,/\t"zero, "\n&/' "$TREE/01_one/client.c"
	finds messages 01_one/client.c:10 'goes on in the next line: "zero, "'
	[ "${#lines[@]}" -eq 1 ]
}

# A row each: the check; a change, made in a tree that keeps the rules; the file that is
# named then, and what is said of it; or neither, where that breaks no rule.
changes() {
	cat <<-'END'
	makefile~sed -i '6i #include "../log.h"' 01_one/client.c~01_one/client.c:6~reaches out of the chapter
	length~yes '# a comment' | head -n 297 >>scripts/a.sh~~
	length~yes '# a comment' | head -n 298 >>scripts/a.sh~scripts/a.sh~301 lines
	length~yes '/* a comment */' | head -n 393 >>01_one/client.c~~
	length~yes '/* a comment */' | head -n 394 >>01_one/client.c~01_one/client.c~401 lines
	format~sed -i 's/^\treturn/    return/; $aint x ; int y ;' 01_one/client.c~01_one/client.c:5~run clang-format -i 01_one/client.c
	shell~echo 'echo $1' >>scripts/a.sh~scripts/a.sh~SC2086
	shell~printf '#!/usr/bin/env bash\necho $1\n' >scripts/b~scripts/b~SC2086
	shell~printf '# shellcheck shell=bash\nb=1\necho $a $@\n' >scripts/b.sh~scripts/b.sh~SC2154
	whitespace~printf 'text \n' >>README.md~README.md:4~whitespace at the end
	whitespace~printf 'text\r\n' >>README.md~README.md:4~whitespace at the end
	whitespace~printf '  \tint x;\n' >>01_one/client.c~01_one/client.c:8~blanks before a tab
	whitespace~printf '```diff\n \tint x;\n \n```\n' >>README.md~~
	whitespace~printf '%s \n' '```text' 'text' >>README.md~README.md:4~whitespace at the end
	whitespace~printf text >>README.md~README.md~no newline at the end
	whitespace~printf 'cat <<-END\n  text\n\tEND\n' >>scripts/a.sh~~
	whitespace~printf 'cat <<-END\n  text\n\tEND\n  true\n' >>scripts/a.sh~scripts/a.sh:7~indented with blanks
	whitespace~printf '%s\n' "patch <<'END_PATCH'" $' \tint x;' ' ' END_PATCH >>scripts/a.sh~~
	whitespace~printf '%s\n' "patch <<'END_PATCH'" ' ' END_PATCH 'true ' >>scripts/a.sh~scripts/a.sh:7~whitespace at the end
	headers~sed -i 's/client.c - nothing/nothing/' 01_one/client.c~01_one/client.c~does not start with '/*
	headers~sed -i '1,3d' 01_one/client.c~01_one/client.c~does not start with '/*
	headers~sed -i '2d' scripts/a.sh~scripts/a.sh~does not say
	words~printf '%s\n' '/* XXXX and TODOS */' 'char *s = "/tmp/x.XXXXXX";' >>01_one/client.c~~
	words~printf '%s\n' 'They say "production-ready".' 'It is 3 != 4, `no!`,' >>README.md~~
	words~printf '%s\n' '![a picture](x.svg)' '> [!NOTE]' '<!-- a comment -->' >>README.md~~
	words~printf '%s\n' '```' 'error!' '```' >>README.md~~
	words~echo '/* TO""DO: all */' | tr -d '"' >>01_one/client.c~01_one/client.c:8~left to do
	words~echo '/* FIX""ME: all */' | tr -d '"' >>01_one/client.c~01_one/client.c:8~left to do
	words~echo '/* XX""X: all */' | tr -d '"' >>01_one/client.c~01_one/client.c:8~left to do
	words~echo 'This is production""-ready.' | tr -d '"' >>README.md~README.md:4~whose word is that?
	words~echo 'It works!' >>README.md~README.md:4~exclamation mark
	words~echo 'It works! Now' >>README.md~README.md:4~exclamation mark
	words~echo '**It works!**' >>README.md~README.md:4~exclamation mark
	words~echo '(works!)' >>README.md~README.md:4~exclamation mark
	END
}

@test "each way to break a rule is found, and what breaks none is not" {
	local rule change file said count=0

	while IFS='~' read -r rule change file said; do
		echo "$rule: $change"
		rm -rf "$TREE"
		small_tree
		(cd "$TREE" && eval "$change")
		if [[ -n $file ]]; then
			finds "$rule" "$file" "$said"
			[[ $rule != format || ${#lines[@]} -eq 1 ]]
		else
			run -0 check "$rule"
		fi
		count=$((count + 1))
	done < <(changes)
	[[ $count -eq 34 ]]
}

# A file that is only sourced is checked with the one that sources it.
@test "what is sourced is checked with what sources it" {
	small_tree
	# shellcheck disable=SC2016
	printf '# shellcheck shell=bash\nb=1\necho $a $@\n' >"$TREE/scripts/b.sh"
	# shellcheck disable=SC2016
	printf '%s\n' a=1 '# shellcheck source=scripts/b.sh' \
		'source "$(dirname "$0")/b.sh"' 'echo "$b"' \
		>>"$TREE/scripts/a.sh"
	finds shell scripts/b.sh SC2068
	[[ $output != *SC2154* && $output != *SC2034* ]]
}

# in_order CHAPTER: which module includes which has no circle, or tsort names one. A
# module is a .c and a .h of one name, here or in carried/ or plumbing/.
in_order() {
	find "$1" "$1"/{carried,plumbing} -maxdepth 1 -name '*.[ch]' -exec awk -F '"' '/^#include "/ {
		module = FILENAME
		gsub(/.*\/|\.[ch]$/, "", module)
		gsub(/.*\/|\.h$/, "", $2)
		if ($2 != module)
			print module, $2
	}' {} + 2>/dev/null | tsort
}

# bats test_tags=chapters
@test "no modules of a chapter include each other in a circle" {
	local chapter

	for chapter in [0-9][0-9]_*; do
		run -0 in_order "$chapter"
		[[ ${#lines[@]} -gt 10 ]]
	done
	small_tree
	mkdir "$TREE/01_one/plumbing"
	echo '#include "b.h"' >"$TREE/01_one/a.c"
	echo '#include "c.h"' >"$TREE/01_one/plumbing/b.h"
	run -0 in_order "$TREE/01_one"
	echo '#include "a.h"' >"$TREE/01_one/c.c"
	run -1 in_order "$TREE/01_one"
	says 'input contains a loop' 'tsort: '
}

# The package lib is found by a link to it, or by scripts/lib/python.sh.
@test "no program changes where Python looks for modules" {
	run -1 grep -rnE 'sys[.]path\b' --include='*'.{py,sh,bash,bats,mjs} \
		--exclude-dir=node_modules [0-9]* scripts tests web
	[[ -z $output ]]
	for link in {scripts/maint,tests,tests/mutants,web/site}/lib; do
		[[ $link -ef scripts/lib ]]
	done
}

@test "test data and recorded logs are left alone" {
	small_tree
	mkdir -p "$TREE/tests/fixtures" "$TREE/01_one/expected"
	printf 'int x ;  \n' | tee "$TREE/tests/fixtures/x.c" \
		>"$TREE/01_one/expected/server.log"
	run -0 check
	[ -z "$output" ]
}

@test "wrong usage ends with 2" {
	run -2 check build
	small_tree
	run -2 check nonsense
	run -2 scripts/maint/check_chapters.sh -x
	run -0 scripts/maint/check_chapters.sh -h
	says 'Example: check_chapters.sh format shell'
}
