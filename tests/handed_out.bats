#!/usr/bin/env bats
#
# What a reader works on: a copy in work/, which no other command looks at; and what is
# said when a chapter itself was changed. In a repository of its own. Needs no device.
# shellcheck disable=SC2154 # set by run

setup() {
	local top

	top=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
	tree=$BATS_TEST_TMPDIR/tree
	mkdir -p "$tree"
	cp -r "$top/"{01_send_recv,scripts,Makefile,chapters.tsv,.gitignore} "$tree"
	cd "$tree" || return
	make -s -C 01_send_recv clean
	git init -q
	git add .
	git -c user.name=x -c user.email=x@example.org commit -qm 'what was handed out'
	export PROGRESS=$BATS_TEST_TMPDIR/progress DEVICE=host
}

# changed: a reader has changed the chapter, as the case no_recv does.
changed() {
	sed -i 's/message_post_recv/message_post_receive/' 01_send_recv/server.c
}

said='you have changed 01_send_recv/server.c, '
cure='git checkout HEAD -- 01_send_recv/server.c'

@test "an exercise is handed out in work/, says how it is checked, and builds there" {
	run -0 make -s exercise CH=01 EX=1
	[[ $output == 'Send back what came'*'01_send_recv/exercises/echo.md'*'files in work/01_echo,'*'make exercise CH=01 EX=echo CHECK=1' ]]
	make -s -C work/01_echo first
	[[ -z $(git status --porcelain) ]]
	# What is there stays.
	echo '/* Mine. */' >>work/01_echo/first.c
	run -0 make -s exercise CH=01 EX=echo
	[[ $output == 'work/01_echo is there already; remove it to start over.'* ]]
	[[ $(tail -n 1 work/01_echo/first.c) == '/* Mine. */' ]]
}

@test "a chapter that was changed is named, with the cure, and the copies are without that" {
	local what name

	changed
	for what in 'exercise EX echo' 'repair TASK deaf' 'exercise EX say'; do
		read -r what key name <<<"$what"
		run -0 make -s "$what" CH=01 "$key=$name"
		[[ $output == "${what/-/_}: $said"*"begins without that;"*"$cure"$'\n'* ]]
		[[ $(grep -c 'you have changed' <<<"$output") -eq 1 ]]
	done
	run -1 grep -r message_post_receive work
	run -0 scripts/demo.sh --plan 01
	[[ $output == *"demo: $said"*"$cure" ]]
	# And where a run differs for that reason: here the programs say nothing at all.
	printf '#!/bin/sh\necho 192.0.2.1\n' >scripts/setup_rxe.sh
	printf '#!/bin/sh\nmkdir -p "$3"\n' >scripts/pair.sh
	run -1 scripts/demo.sh 01
	[[ $output == *DIFFERS*"demo: $said"*"$cure" ]]
	# What differs and is no source changes nothing.
	git checkout -q HEAD -- 01_send_recv/server.c
	echo x >>01_send_recv/README.md
	run -0 make -s exercise CH=01 EX=three
	[[ $output != *'you have changed'* ]]
}

@test "a case that does not fit a changed chapter is said, and nobody is asked" {
	local edit

	# Once it is something else, once it is the change itself: at a terminal, patch(1)
	# would ask whether to reverse it.
	for edit in 's/message_post_recv/message_post_receive/' '/message_post_recv/d'; do
		git checkout -q HEAD -- 01_send_recv
		sed -i "$edit" 01_send_recv/server.c
		run -1 timeout 60 script -qec 'scripts/break.sh 01 no_recv' /dev/null <<<''
		[[ $output == *"break: $said"*"$cure"*'does not fit the files of 01_send_recv'* ]]
		[[ $output != *'[n]'* && $output != *'[y]'* ]]
	done
	# The exact change of the case.
	git checkout -q HEAD -- 01_send_recv
	patch -f -s -d 01_send_recv -p1 <01_send_recv/break/no_recv/patch
	run -1 timeout 60 script -qec 'scripts/break.sh 01 no_recv' /dev/null <<<''
	[[ $output == *'does not fit'* && $output != *'[n]'* ]]
}
