#!/usr/bin/env bats
#
# kernel_logs.bats - logs that differ by kernel: which of them a run is compared
# with and recorded into, and what is said of a run that cannot succeed. In a
# repository of its own, whose host has a device and the kernel that the test
# names; its one chapter's programs are echo.
# shellcheck disable=SC2154 # set by run
# shellcheck disable=SC2086 # $talk has no spaces

setup() {
	repo=$BATS_TEST_TMPDIR/repo
	mkdir -p "$repo/bin" "$repo/01_talk/expected/talk/linux-6.12"
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
	logs $talk old
	logs $talk/linux-6.12 new
}

# logs FOLDER WORD: the logs of a run whose client says so.
logs() {
	mkdir -p "$1"
	echo listening >"$1/server.log"
	echo "$2" >"$1/client.log"
	printf '%s: exit status 0\n' server client >"$1/status.log"
}

# Runs the pair on a kernel and prints the folder it is compared with, and
# what is said of it.
pair_on() {
	KERNEL=$1 scripts/pair.sh $talk/commands build/run >/dev/null &&
		scripts/compare_logs.sh -w build/run $talk &&
		scripts/compare_logs.sh build/run $talk
}

@test "a run is compared with the logs of its kernel, or of the last before it" {
	run -0 pair_on 6.1.0-56-amd64
	[[ $output == "$talk"$'\nmatches' ]]
	run -0 pair_on 6.12.117+deb13-amd64
	[[ $output == "$talk/linux-6.12"$'\nmatches' ]]
	[[ $(<build/run/kernel) == 6.12.117+deb13-amd64 ]]
	run -0 pair_on 6.12-rc1
	run -0 pair_on 7.0-rc1
	[[ $output == "$talk/linux-6.12"$'\nmatches' ]]
	# Numbers, not text: 6.9 is older than 6.12.
	run -1 pair_on 6.9.3
	[[ $output == "$talk"$'\n'* ]]
	logs $talk/linux-7.1 latest
	run -0 pair_on 7.0.1
	run -1 pair_on 7.1.2
	[[ $output == "$talk/linux-7.1"$'\n'* ]]
}

@test "what cannot succeed on a kernel says so at once, and is not run" {
	cat >can.sh <<-'END'
		case $(uname -r) in 6.12.*) echo 'it forgets how.'; exit 3 ;; esac
	END
	sed -i '/^server/isetup: sh can.sh' $talk/commands
	run -0 pair_on 6.1.9
	sed -i 's/^server: .*/server: touch run/' $talk/commands
	run -3 env KERNEL=6.12.1 scripts/pair.sh $talk/commands build/run
	[[ $output == "pair: on Linux 6.12.1 this run cannot succeed: it forgets how." ]]
	run -0 env KERNEL=6.12.1 scripts/demo.sh
	[[ $output == *"it forgets how."*"01_talk  "*cannot* ]]
	before=$(cksum $talk/linux-6.12/*)
	run -0 env KERNEL=6.12.1 scripts/maint/record_logs.sh
	[[ $output == *"it forgets how."*"recording nothing in $talk/linux-6.12" ]]
	[[ ! -e 01_talk/run && $(cksum $talk/linux-6.12/*) == "$before" ]]
}

@test "logs are recorded into the folder of the kernel, and no other" {
	rm $talk/linux-6.12/* $talk/*.log
	run -0 env KERNEL=6.12.1 scripts/maint/record_logs.sh
	[[ $output == *"recording $talk/linux-6.12"* ]]
	[[ $(<$talk/linux-6.12/client.log) == new ]]
	[[ ! -e $talk/client.log && ! -e $talk/linux-6.12/kernel ]]
	run -0 env KERNEL=6.1.9 scripts/maint/record_logs.sh
	[[ $(<$talk/client.log) == old && ! -e $talk/kernel ]]
	[[ $(<$talk/linux-6.12/client.log) == new ]]
}
