#!/usr/bin/env bats
#
# new_chapter.bats - what a new chapter takes, which CONTRIBUTING.md says: in a copy of
# the tree, a made-up one has its folder and its row in chapters.tsv, and is built,
# listed, printed and looked at like any other

load says

# 10 is a copy of 02 with a line of its own.
setup_file() {
	export TREE=$BATS_FILE_TMPDIR/tree

	mkdir "$TREE"
	copy_tree "$TREE"
	cd "$TREE" || return
	cp -r 02_write_read 10_made_up
	rm -r 10_made_up/repair
	mv 10_made_up/{[!s]*,state}.[ch] 10_made_up/carried
	grep -rlE '02_write_read|CH=02|chapter 02|Chapter 02' 10_made_up |
		xargs sed -i 's/02_write_read/10_made_up/g; s/\(CH=\|hapter \)02/\110/g'
	sed -i 's/^int main/static int made_up;\n\n&/' 10_made_up/server.c
	printf '10_made_up\t02\trxe siw\t22230\twrite\tA concept that is made up.\n' >>chapters.tsv
	git init -q .
	git add -A
}

setup() {
	cd "$TREE" || return
}

@test "a new chapter is found by make, demo, break, exercise, wire and bench" {
	run -0 make -n all
	[[ $output == *'-C 10_made_up'* ]]
	run -0 scripts/demo.sh --plan
	[[ $output == *' 10_made_up'* ]]
	run -0 scripts/break.sh 10
	[[ $output == *four_mistakes* ]]
	run -0 scripts/exercise.sh 10
	[[ $output == *ticket* ]]
	CLI_CHECK=1 run -0 scripts/wire.sh 10
	CLI_CHECK=1 run -0 scripts/maint/record_wire.sh 10
	run -2 scripts/bench.sh 10
	[[ $output == *'no comparison for 10_made_up'* ]]
}

@test "its lesson is its difference from what it starts from" {
	run -0 scripts/lesson.sh 10
	[[ $output == *'+static int made_up;'* && $output == *' as in 02_write_read: '* ]]
	[[ $output == *'10_made_up: 2 lines added, 0 removed.'* ]]
}

@test "README's table gets its row" {
	run -1 scripts/maint/docs.py --check
	[[ $output == *'README.md is not up to date'* ]]
	run -0 scripts/maint/docs.py
	grep -E '^\| \[10_made_up\]\(10_made_up/README.md\) \| A concept that is made up\. \|' README.md
	run -0 scripts/maint/docs.py --check
}

@test "the tests that go through chapters know it" {
	run -0 env -u PYTEST_ADDOPTS /usr/bin/python3 -m pytest tests --chapter 10 --collect-only -q
	[[ $output == *'test_peers.py::'*'[10_made_up]'* && $output != *'04_wire.py'* ]]
}

@test "the pages have it, with its runs and its cases" {
	run -0 node --input-type=module -e "
	import {chaptersOf, readTree} from './web/site/tree.mjs';
	import {chapterData} from './web/site/lab_data.mjs';
	const tree = readTree('.');
	console.log(chaptersOf(tree).at(-1));
	const {runs, cases} = chapterData('.', tree, '10_made_up');
	console.log(Object.keys(runs).join(' '), 'four_mistakes' in cases);"
	[[ ${lines[0]} == 10_made_up && ${lines[1]} == *'read'*'write'*' true' ]]
}

# It takes three places beside the folder, and CONTRIBUTING.md has them.
@test "what a new chapter touches beside its own folder is said, and no more" {
	run -0 sed -n '/^A new chapter touches/,/^Each/p' CONTRIBUTING.md
	[[ $(grep -c '^- ' <<<"$output") -eq 3 ]]
	# Elsewhere, no list of chapters' numbers or folders, and no pattern for some.
	run grep -d skip -nE '0[1-8](_\w+)? 0[1-8](_\w+)? 0[1-8]|\b0\[1-[5-8]\]_' \
		Makefile scripts/*.sh scripts/lib/*.* scripts/maint/* web/*.sh web/site/* \
		tests/test_{ends,every_chapter}.py tests/test_siw.py
	[[ -z $output ]]
}
