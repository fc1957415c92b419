#!/usr/bin/env bats
#
# The Markdown files: their spelling, and that the commands they tell to type name
# what there is; and phrases that must not come back, there and in comments. On a small
# tree, each kind of mistake is found. (That marked commands run is in commands.bats,
# which needs a device.)

load says

setup() {
	cd "$BATS_TEST_DIRNAME/.." || return
	TREE=$BATS_TEST_TMPDIR/tree
	mkdir -p "$TREE"/{tests,scripts,01_one/break/bad,01_one/exercises}
	touch "$TREE/scripts/a.sh" "$TREE/01_one/Makefile"
	printf '%s\n' 'all:' 'break:' 'exercise:' >"$TREE/Makefile"
	echo '| 1 | one |' >"$TREE/01_one/exercises/README.md"
	echo "{ 'a', OPTION_TEXT, \"address\", NULL, 0, 0, FOR_BOTH, 0 }," \
		>"$TREE/01_one/options.c"
}

# readme LINE...: README.md of the small tree.
readme() {
	printf '%s\n' "$@" >"$TREE/README.md"
}

spelling() { scripts/maint/check_spelling.py -r "$TREE"; }
commands() { scripts/maint/check_commands.py -r "$TREE"; }

# bats test_tags=chapters
@test "the spelling of all Markdown files, and phrases that must not come back" {
	run -0 scripts/maint/check_spelling.py
	[ -z "$output" ]
}

@test "a word that is wrong, or American, is found in its line" {
	readme 'The first line.' 'A recieve is posted here.'
	run -1 spelling
	[ "$output" = 'README.md:2: recieve' ]
	readme 'The color of a *bold* word'
	run -1 spelling
	says 'README.md:1: color'
	readme 'The colour of a queue, its owner'"'"'s.'
	run -0 spelling
}

@test "code is not spelled, and words of the list are known" {
	readme '`recieve` and `two' 'lines recieve` [text](recieve.md)' '```c' \
		'int recieve;' '```' 'ibv_post_recv, recieve.c, RDMA, QPs'
	run -0 spelling
	readme 'An rkey for RoCE, the rkey'"'"'s.'
	run -1 spelling
	printf '%s\n' '# ours' rkey RoCE >"$TREE/tests/words.txt"
	run -0 spelling
}

@test "a phrase that must not come back is found in its line, also across two" {
	cp tests/phrases.tsv "$TREE/tests"
	readme 'The first line.' 'It is on' 'us to begin.'
	run -1 spelling
	[ "$output" = 'README.md:2: "is on us to": we must' ]
	readme 'One slot is spare.' '`It is on us to begin.`' '```text' 'long since' '```'
	run -0 spelling
	printf '%s\n' '# A comment that is' '# in vain.' >"$TREE/scripts/a.sh"
	run -1 spelling
	says 'scripts/a.sh:2: "in vain": '
}

@test "such a phrase is found in a comment of C, and not in the code" {
	cp tests/phrases.tsv "$TREE/tests"
	printf '%s\n' '/*' ' * It was flushed long' ' * since. Shall it' \
		' * come?' ' */' 'char s[] = "long since", t[] = "/";' \
		'int borders; /* of messages */' >"$TREE/01_one/one.c"
	run -1 spelling
	[ "$output" = '01_one/one.c:2: "long since": earlier' ]
	printf '%s\n' 'int a; /* b */' 'int borders = 2 * 3; /* it has borders */' \
		>"$TREE/01_one/one.c"
	run -1 spelling
	[ "$output" = '01_one/one.c:2: "borders": boundary' ]
}

@test "each phrase has a regular expression and what to write instead" {
	run -0 awk -F '\t' '!/^#/ && (NF != 2 || $1 == "" || $2 == "")' tests/phrases.tsv
	[ -z "$output" ]
}

# bats test_tags=chapters
@test "the commands that Markdown files tell to type name what there is" {
	run -0 scripts/maint/check_commands.py
	[ -z "$output" ]
}

# shellcheck disable=SC2016 # Markdown
@test "a command that names what there is not is found" {
	local line

	for line in 'make -C 01_one' 'make break CH=01 CASE=bad' \
		'scripts/a.sh X my_copy/a' 'make exercise CH=01 EX=1' \
		'sudo scripts/a.sh # make nothing' './server -a 192.0.2.1'; do
		readme '```sh' "$line" '```'
		run -0 commands
	done
	while IFS='|' read -r line what; do
		readme '```sh' "$line" '```'
		run -1 commands
		says "README.md:2: $what"
	done <<-END
		make nothing|make has no target nothing
		make -C 02_two|there is no 02_two/Makefile
		X=1 make break CH=02|there is no chapter 02
		make break CH=01 CASE=worse|01_one has no break/worse
		make exercise CH=01 EX=2|01_one has no exercise 2
		scripts/b.sh|there is no scripts/b.sh
		true && scripts/a.sh 01_one/b|there is no 01_one/b
		./server -x|./server has no option -x
	END
	readme 'Type `make nothing` or `scripts/c.sh`.'
	run -1 commands
	says 'make has no target nothing'
	says 'there is no scripts/c.sh'
}
