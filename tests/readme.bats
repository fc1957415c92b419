#!/usr/bin/env bats
#
# check_readme.py: what this repository's Markdown shows and points at is so;
# and on a small tree of its own, each kind of untruth is found.

load says

setup() {
	cd "$BATS_TEST_DIRNAME/.." || return
	TREE=$BATS_TEST_TMPDIR/tree
	README=$TREE/01_one/README.md
	mkdir -p "$TREE/01_one/expected"
	touch "$TREE/01_one/Makefile"
	cp tests/fixtures/readme/conn.c "$TREE/01_one"
	echo 'int other;' >"$TREE/01_one/other.h"
	printf '%s\n' 'listening on port 20886.' 'connected.' 'sent...' \
		'disconnected.' >"$TREE/01_one/expected/server.log"
	: >"$README"
}

check() {
	scripts/maint/check_readme.py -r "$TREE" "$@"
}

# finds TEXT…: the check fails, and each of this is said.
finds() {
	run -1 check
	says_each "$@"
}

# readme LINE...: the chapter's README is these lines.
readme() {
	printf '%s\n' "$@" >"$README"
}

# block INFO LINE...: it is these lines in a code block.
block() {
	readme "\`\`\`$1" "${@:2}" '```'
}

# bats test_tags=chapters
@test "what this repository's Markdown shows and points at is so" {
	local chapters=([0-9][0-9]_*/Makefile)
	[ -f "${chapters[0]}" ]
	run -0 scripts/maint/check_readme.py
	says 'all as they say'
}

@test "a verbatim piece of any file passes, with and without its name" {
	block c $'void conn_close(struct conn *conn)\n{'
	run -0 check
	says '1 Markdown files with 1 blocks and 0 links'
	block 'c file=conn.c' $'\tconn->open = true;\n\treturn 0;'
	run -0 check
	block c 'int other;'
	run -0 check
}

@test "lines may be left out, in order" {
	block c 'int conn_open(struct conn *conn)' '{' $'\t...' '' \
		$'\treturn 0;' '}' '/* ... */' $'\tconn->open = false;'
	run -0 check
	block c $'\treturn 0;' '...' 'int conn_open(struct conn *conn)'
	finds "README.md:4: not in any one C file of 01_one: int conn_open" \
		'01_one/conn.c:3 has it, but not in this order'
	# Nor do the same lines stand for two parts.
	block c 'int conn_open(struct conn *conn)' '...' \
		'int conn_open(struct conn *conn)'
	finds 'README.md:4: not in any one C file of 01_one: int conn_open'
	block c 'int conn_open(struct conn *conn)' '{' '...' '{'
	run -0 check
}

@test "a changed character, a left-out line and other indentation are found" {
	block c 'int conn_open(struct conn *conn)' '{' $'\tif (!conn )'
	run -1 check
	says $'README.md:4: not in any one C file of 01_one: \tif (!conn )'
	says $'nearest is 01_one/conn.c:5: \tif (!conn)'
	block c $'\tif (!conn)' $'\t\treturn -1;' $'\tconn->open = true;'
	finds 'README.md:4:' 'nearest is 01_one/conn.c:7:'
	block c 'conn->open = true;'
	finds 'nearest is 01_one/conn.c:8:'
	block c '    if (!conn)'
	run -1 check
}

@test "lines of two files are no piece of either" {
	block c 'int other;' '...' $'\treturn 0;'
	finds 'not in any one C file of 01_one'
	block c 'nothing like it at all'
	finds 'no line of it is like this one'
}

@test "with file= it must be that file, and exist" {
	block 'c file=other.h' $'\treturn 0;'
	finds 'not in other.h'
	block 'c file=none.c' 'int other;'
	finds 'README.md:1: no file 01_one/none.c'
	mkdir "$TREE/docs"
	printf '```c file=../01_one/other.h\nint another;\n```\n' \
		>"$TREE/docs/a.md"
	: >"$README"
	finds 'not in ../01_one/other.h'
	printf '```c file=../01_one/none.h\nint other;\n```\n' \
		>"$TREE/docs/a.md"
	finds 'docs/a.md:1: no file 01_one/none.h'
}

@test "a block in a list is read without the list's indentation" {
	readme '- first' '  ```c' '  int conn_open(struct conn *conn)' '  {' \
		$'  \tif (!conn)' '  ```'
	run -0 check
	readme '- first' '  ```c' '  int conn_open(struct conn *conn);' '  ```'
	run -1 check
}

@test "logs are pieces of the recorded ones" {
	block 'console log=expected/server.log' 'connected.' '...' disconnected.
	run -0 check
	block 'text log=expected/server.log' 'connected.' sent
	finds 'README.md:3: not in expected/server.log: sent' \
		'nearest is 01_one/expected/server.log:3: sent...'
}

@test "other blocks, and C outside of chapters, may be anything" {
	block sh 'make anything'
	mkdir "$TREE/docs"
	printf '```c\nint anything;\n```\n' >"$TREE/docs/a.md"
	run -0 check
}

@test "a block that is empty, or has no end, is found" {
	block c '...'
	finds 'nothing is shown'
	readme '```c' 'int other;'
	finds 'README.md:1: code block without an end'
}

@test "links to files, folders and lines lead somewhere" {
	readme '[a](conn.c) [b](../01_one) ![c](<expected/server.log>)' \
		'[d](/01_one/other.h "title") [e](conn.c#L3-L10) [f][f]' \
		'<img src="conn.c"> [g](https://example.org/none)' \
		'`[h](none.c)`' '' '[f]: expected/' '```sh' '[i](none.c)' '```'
	run -0 check
	says '8 links'
	local target
	for target in none.c ../none.md expected/none ../../01_one conn.c#L99 \
		/conn.c Conn.c; do
		readme '' "A [link]($target) in a line."
		finds "README.md:2: "
	done
	readme '<a href="none.c">'
	run -1 check
	readme '[![picture](conn.c)](none.c)'
	run -1 check
	readme '[text][none]'
	finds 'defined nowhere'
}

@test "a link to a file that git ignores leads nowhere" {
	readme '[a](server)'
	touch "$TREE/01_one/server"
	git init -q "$TREE"
	run -0 check
	echo server >"$TREE/.gitignore"
	finds 'link to nothing: server'
}

@test "links to headings lead to headings, named as the usual Git hosts do" {
	readme '# One: two & *three*' '## `conn_open()` and _more_' '## Again' \
		'## Again' '## Über [links](conn.c)' 'Setext' '------' \
		'<a id="by-hand"></a>' '' \
		'[a](#one-two--three) [b](#conn_open-and-more) [c](#again)' \
		'[d](#again-1) [e](#über-links) [f](#setext) [g](#by-hand)' \
		'[h](README.md#again) [i](../01_one/README.md#again)'
	run -0 check
	readme '# One' '[a](#two)'
	finds 'README.md:2: no heading of 01_one/README.md is #two'
	readme '# One' '```' '# Two' '```' '[a](#two)'
	run -1 check
	readme '# Again' '[a](#again-1)'
	run -1 check
}

# bats test_tags=chapters
@test "each chapter has a README" {
	rm "$README"
	finds '01_one/README.md:1: this chapter has no README.md'
}

# bats test_tags=chapters
@test "each race of a chapter's logs is told in a README that links to it" {
	local races=$TREE/01_one/expected/races

	printf '%s\n' '# why' 'server.log: a * <> b' '' '*.log: c <> d' >"$races"
	readme 'server.log: a * <> b'
	finds '01_one/expected/races:2: 01_one/README.md does not tell of this race' \
		'01_one/expected/races:4: 01_one/README.md does not tell of this race'
	[[ $output != *races:1* ]]
	readme 'They [may change places](expected/races).'
	run -0 check
	# One with the same lines will do; with one line more it will not.
	mkdir -p "$TREE/01_one/break/bad" "$TREE/02_two"
	cp "$races" "$TREE/01_one/break/bad"
	run -0 check
	echo 'server.log: e <> f' >>"$TREE/01_one/break/bad/races"
	finds '01_one/break/bad/races:5: 01_one/README.md does not tell'
	# The README of a case may tell it instead; another chapter's does not.
	touch "$TREE/02_two/Makefile"
	echo '[x](../01_one/break/bad/races)' >"$TREE/02_two/README.md"
	run -1 check
	echo '[x](races)' >"$TREE/01_one/break/bad/README.md"
	run -0 check
	# And so may the chapter's reference.md, but no other page of it.
	rm "$TREE/01_one/break/bad/README.md"
	echo '[x](break/bad/races)' >"$TREE/01_one/other.md"
	run -1 check
	mv "$TREE/01_one/other.md" "$TREE/01_one/reference.md"
	run -0 check
}

@test "test data is left alone" {
	mkdir -p "$TREE/tests/fixtures"
	echo '[a](none)' >"$TREE/tests/fixtures/a.md"
	run -0 check
}

@test "wrong usage ends with 2" {
	run -2 scripts/maint/check_readme.py -r /nonexistent
	run -2 check --nonsense
	run -0 scripts/maint/check_readme.py -h
	says 'check_readme.py [-r ROOT]'
}
