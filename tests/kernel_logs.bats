#!/usr/bin/env bats
#
# kernel_logs.bats - logs are recorded, and what is said of a run that cannot succeed
# on a kernel. In a repository of its own, whose host has a device and the kernel that
# the test names; its one chapter's programs are echo.
# shellcheck disable=SC2154 # set by run
# shellcheck disable=SC2086 # $talk has no spaces

setup() {
	repo=$BATS_TEST_TMPDIR/repo
	mkdir -p "$repo/bin" "$repo/01_talk/expected/talk"
	cp -r "$BATS_TEST_DIRNAME/../scripts" "$repo"
	printf '#!/bin/sh\necho 192.0.2.1\n' >"$repo/scripts/setup_rxe.sh"
	cat >"$repo/bin/uname" <<-'END'
		#!/bin/sh
		[ "$1" = -r ] || exec /usr/bin/uname "$@"
		echo "$KERNEL"
	END
	chmod 755 "$repo/bin/uname"
	PATH=$repo/bin:$PATH
	export DEVICE=host KERNEL=6.1.0-56-amd64
	cd "$repo" || return
	talk=01_talk/expected/talk
	printf 'all:\n' >01_talk/Makefile
	: >01_talk/none.c
	: >01_talk/none.h
	cat >$talk/commands <<-'END'
		# Two programs talk
		server: echo listening
		client: sh client.sh
	END
	cat >01_talk/client.sh <<-'END'
		case $(uname -r) in 6.1.*) echo old ;; *) echo new ;; esac
	END
	echo listening >$talk/server.log
	echo old >$talk/client.log
	printf '%s: exit status 0\n' server client >$talk/status.log
}

@test "what cannot succeed on a kernel says so at once, and is not run" {
	cat >can.sh <<-'END'
		case $(uname -r) in 6.12.*) echo 'it forgets how.'; exit 3 ;; esac
	END
	sed -i '/^server/isetup: sh can.sh' $talk/commands
	run -0 scripts/pair.sh $talk/commands build/run
	run -0 scripts/compare_logs.sh build/run $talk
	sed -i 's/^server: .*/server: touch run/' $talk/commands
	run -3 env KERNEL=6.12.1 scripts/pair.sh $talk/commands build/run
	[[ $output == "pair: on Linux 6.12.1 this run cannot succeed: it forgets how." ]]
	run -0 env KERNEL=6.12.1 scripts/demo.sh
	[[ $output == *"it forgets how."*"01_talk  "*cannot* ]]
	before=$(cksum $talk/*)
	run -0 env KERNEL=6.12.1 scripts/maint/record_logs.sh
	[[ $output == *"it forgets how."*"recording nothing in $talk" ]]
	[[ ! -e 01_talk/run && $(cksum $talk/*) == "$before" ]]
}

@test "logs are recorded, and what was there before goes" {
	touch $talk/client.err
	run -0 env KERNEL=6.12.1 scripts/maint/record_logs.sh
	[[ $output == *"recording $talk"* ]]
	[[ $(<$talk/client.log) == new && ! -e $talk/kernel && ! -e $talk/client.err ]]
}
