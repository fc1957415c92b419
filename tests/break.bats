#!/usr/bin/env bats
#
# make break: it lists what each case asks; shows what is changed, lets somebody at
# a terminal guess, shows what each end said in the order of time, and then tells
# the story. In a repository of its own, whose host has a device, and whose one
# chapter's programs are shell scripts.
# shellcheck disable=SC2154,SC2016 # set by run; backquotes are Markdown's

setup() {
	repo=$BATS_TEST_TMPDIR/repo
	mkdir -p "$repo/01_talk/"{plumbing,break/odd,break/even}
	cp -r "$BATS_TEST_DIRNAME/../scripts" "$BATS_TEST_DIRNAME/../Makefile" "$repo"
	printf '#!/bin/sh\necho 192.0.2.1\n' >"$repo/scripts/setup_rxe.sh"
	export DEVICE=host
	cd "$repo/01_talk" || return
	printf 'all:\n' >Makefile
	: >none.c
	printf '%s\n' 'echo listening' 'echo served' >server.sh
	printf '%s\n' 'echo one' 'echo two' 'echo three' 'echo four' >client.sh
	printf '%s\n' '| x | `make break CH=01 CASE=odd` |' \
		'| x | `make break CH=01 CASE=even` |' >README.md
	printf '%s\n' '# Two talk' 'server: sh server.sh' 'client: sh client.sh' \
		>break/odd/commands
	cat >break/odd/patch <<-'END_PATCH'
		--- a/client.sh
		+++ b/client.sh
		@@ -1,4 +1,5 @@
		 echo one
		-echo two
		+echo 'error: a failure of which there is so much to say that 80 columns do not do' >&2
		 echo three
		 echo four
		+exit 1
	END_PATCH
	cat >break/odd/README.md <<-'END'
		# odd

		> The client fails where it said two. What does it say afterwards?

		The `patch` is of [this kind](../../README.md), and *so* is **this**.

		- one thing
		- another

		```text log=client.log
		one
		three
		```

		```text log=client.err
		error: a failure
		```

		```text
		another
		```

		**Remember:** it is odd.
	END
	printf '# even\n\n> Nothing is changed. Is it even?\n\nYes.\n' \
		>break/even/README.md
	cp break/odd/commands break/even
	# What is recorded: the plain run for even, that of the patch for odd.
	printf '%s\n' listening served | tee break/even/server.log >break/odd/server.log
	printf '%s\n' one two three four >break/even/client.log
	printf '%s\n' one three four >break/odd/client.log
	echo 'error: a failure of which there is so much to say that 80 columns do not do' \
		>break/odd/client.err
	printf '%s: exit status %s\n' server 0 client 0 >break/even/status.log
	printf '%s: exit status %s\n' server 0 client 1 >break/odd/status.log
	cd ..
}

# in_order TEXT…: the output has these, one after another.
in_order() {
	local rest=$output text

	for text; do
		[[ $rest == *"$text"* ]] || {
			echo "not said, or too early: $text"
			return 1
		}
		rest=${rest#*"$text"}
	done
}

@test "the list has each case and its question, in the order of the README" {
	run -0 make -s break CH=01
	in_order $'\nodd\n  The client fails where it said two. What does it' \
		$'\neven\n  Nothing is changed. Is it even?'
	[[ $output != *'it is odd'* ]]
}

@test "the change is shown, then the run, then the story; nobody is asked" {
	run -0 make -s break CH=01 CASE=odd </dev/null
	in_order 'The client fails where it said two.' '01_talk/break/odd/patch' \
		$'\n-echo two' 'server: sh server.sh' 'server: exit status 0' \
		'client: exit status 1' 'recorded run: matches' 'What happened, and why' \
		'The `patch` is of this kind, and so is this.' $'\n- one thing\n- another' \
		$'\n(client.log and client.err: see above.)\n' $'\n    another\n' \
		'Remember: it is odd.'
	# What an end said stands there once.
	[ "$(grep -c three <<<"$output")" -eq 2 ] # the patch has it, too
	[[ $output != *'Before it runs'* && $output != *$'\033'* ]]
	run -0 make -s break CH=01 CASE=even
	in_order 'Nothing is changed in the code' 'matches' 'Yes.'
}

@test "what an end wrote is shown in the order in which it wrote it" {
	for _ in {1..5}; do
		run -0 env COLUMNS=80 scripts/break.sh 01 odd
		in_order ' | one' ' ! error: a failure of which' ' | three' ' | four'
	done
	[[ $output =~ $'\n'' '+[0-9]+\.[0-9]{3}\ \|\ one ]]
	[[ $(grep -vE '^[-+]' <<<"$output" | awk 'length > 80') == '' ]]
	# And each by itself is as pair.sh keeps it always.
	[[ $(<build/break/01_talk/odd/run/client.log) == $'one\nthree\nfour' ]]
	[[ $(<build/break/01_talk/odd/run/client.err) == 'error: a failure'* ]]
}

@test "at a terminal the guess is asked for before it runs, and repeated after" {
	run -0 script -qec 'scripts/break.sh 01 odd' /dev/null <<<'it says three'
	in_order $'-echo two' 'what will each end say' 'Your guess' 'server: exit' \
		matches 'Your guess was: it says three' 'What happened'
	# The first answer counts, of each case.
	in_order 'Remember: it is odd.' 'Were you right?' 'right in 0 of the 1 cases'
	run -0 script -qec 'scripts/break.sh 01 even' /dev/null <<<$'it is\ny'
	in_order 'Yes.' 'Were you right?' 'right in 1 of the 2 cases'
	run -0 script -qec 'scripts/break.sh 01 odd' /dev/null <<<$'three\ny'
	in_order 'Your guess was: three' 'right in 1 of the 2 cases'
	[[ $output != *'Were you right'* ]]
	# An empty line is no guess.
	run -0 script -qec 'scripts/break.sh 01 odd' /dev/null <<<''
	in_order 'Your guess' matches 'What happened'
	[[ $output != *'guess was'* ]]
}

@test "what goes otherwise than it was recorded is said, and no story told" {
	sed -i s/three/THREE/ 01_talk/client.sh 01_talk/break/odd/patch
	run -1 scripts/break.sh 01 odd
	in_order ' | THREE' 'differs' 'this run differs from the one that 01_talk/break/odd/README.md'
	[[ $output != *'it is odd'* ]]
}

@test "each line has the time at which it was written, on either stream" {
	local out=$BATS_TEST_TMPDIR/out

	local timed=(/usr/bin/python3 -BIS scripts/lib/timed.py "$out")

	# Its reader stands still meanwhile: it could keep up with so little.
	run -7 --separate-stderr "${timed[@]}" bash -c 'kill -STOP $PPID
		echo a; echo b >&2; printf c; echo d; echo e >&2
		kill -CONT $PPID; exit 7'
	# shellcheck disable=SC2154
	[[ $output == $'a\ncd' && $stderr == $'b\ne' ]]
	[[ $(sed 's/^[0-9]*\.[0-9]\{6\} //' "$out" | xargs) == '| a ! b | cd ! e' ]]
	run -137 "${timed[@]}" sh -c 'kill -9 $$'
	# Who ends it ends the command, and hears its last words.
	run -7 "${timed[@]}" bash -c 'trap "echo ended; exit 7" TERM; kill $PPID; while :; do sleep 0.1; done'
	[[ $output == ended && $(<"$out") == *' | ended' ]]
	run -127 "${timed[@]}" ./nonesuch
	run -1 "${timed[@]}"
}
