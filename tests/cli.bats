#!/usr/bin/env bats
#
# cli.bats - the command lines of all scripts and targets: -h explains and does
# nothing, and what does not exist is an error with a list of what does

load cli

setup() {
	noticing
	state >"$BATS_TEST_TMPDIR/before"
}

# All programs of the repository, so that none can be forgotten: those that one
# starts by their names, and those of the Python package.
programs() {
	find . -type f -perm /111 ! -name '*.bats' | sort
	grep -rl 'Parser(__doc__)' scripts/lib --include='*.py' |
		sed 's|scripts/lib/||; s|/|.|; s|\.py$||; s|^|scripts/lib/python.sh |'
}

@test "-h and --help of every script explain it on stdout, and do nothing" {
	local program option count=0 wrong=0

	while read -r program; do
		for option in -h --help; do
			count=$((count + 1))
			# shellcheck disable=SC2086 # several words
			run --separate-stderr timeout 60 $program "$option" \
				</dev/null
			[[ $status -eq 0 && -z $stderr &&
				${output,,} == *usage:* ]] && continue
			wrong=1
			echo "$program $option: status $status: $stderr"
		done
	done < <(programs)
	[[ $count -gt 100 && $wrong -eq 0 ]]
	nothing_done
}

# What a person may type.
phony() {
	sed -n '/^\.PHONY:/,/[^\\]$/p' Makefile | tr -s '\\\n\t ' '\n' |
		grep -E '^[a-z][a-z-]*$' | grep -vx all | sort
}

helped() {
	make help | sed -nE 's/^  make ([a-z][a-z-]*)( .*|$)/\1/p' | sort
}

@test "make help has every target, and every target that it has exists" {
	[[ $(phony | wc -l) -le 20 ]]
	diff <(phony) <(helped)
	run -0 make help
	[[ $output == *'To learn:'*'make demo'*'For authors:'*'make conformance'* ]]
	run -1 grep -E '.{81}' <<<"$output"
	# Each has a rule.
	while read -r target; do
		grep -qE "^$target:" Makefile
	done < <(helped)
}

@test "make help-TARGET explains each target, and make -h does nothing either" {
	local target

	while read -r target; do
		run -0 make "help-$target" </dev/null
		[[ $output == *"  make $target "* ]]
		case $target in
		help | clean | docs) ;;
		*) [[ ${output,,} == *usage:* ]] ;;
		esac
		run -0 make -h "$target" </dev/null
	done < <(helped)
	run -2 make help-nothing
	nothing_done
}

# same COMMAND…, with @ for the chapter: each way to name it is the same.
same() {
	local name said=''

	for name in 1 01 01_send_recv 01_send_recv/ 001; do
		run -0 "${@//@/$name}"
		[[ -z $said || $output == "$said" ]]
		said=$output
		[[ $output == *01_send_recv* || -n ${CLI_CHECK:-} ]]
	done
}

@test "1, 01 and 01_send_recv are the same chapter, everywhere" {
	local script

	same make -s break CH=@
	same make -s exercise CH=@
	# How much memory is free changes.
	same bash -c 'scripts/demo.sh --plan "$0" | grep -v memory' @
	export CLI_CHECK=1
	for script in demo break exercise wire maint/check maint/record_logs \
		maint/record_wire; do
		same "scripts/$script.sh" @
	done
	run -0 scripts/bench.sh 5 05 05_multiclient 07_steps
	# 098 is no number to base 8, and still no chapter.
	run -2 scripts/break.sh 098
	nothing_done
}

# refuses TEXT COMMAND…: it ends with 2, says TEXT, and has done nothing.
refuses() {
	local text=$1

	shift
	run -2 "$@" </dev/null
	# shellcheck disable=SC2053 # a pattern
	[[ $output == *$text* ]] || {
		echo "$*: does not say: $text"
		return 1
	}
	nothing_done || {
		echo "$*"
		return 1
	}
}

@test "what does not exist is an error with the list, and nothing is done" {
	local all some target name

	all=$(echo [0-9][0-9]_*)
	# Nor is anything installed, or the lab asked for, before that.
	notice scripts/install_deps.sh
	notice scripts/lab.sh
	state >"$BATS_TEST_TMPDIR/before"
	for target in check demo break exercise wire; do
		some=$all
		# Not every chapter has them.
		[[ ! $target =~ break|exercise ]] ||
			some=$(dirname [0-9][0-9]_*/"$target"* | xargs)
		for name in 99 x 0 1x 01_send '*'; do
			refuses "'$name'; there is: $some" \
				make -s "$target" CH="$name"
		done
		[[ ! $target =~ ^(break|exercise|wire)$ ]] ||
			refuses "There is: $some" make -s "$target"
	done
	refuses "'99'; there is: $all" scripts/maint/record_wire.sh 99
	refuses "'nothing'; there is: default first text" \
		make -s wire CH=1 RUN=nothing
	refuses "'nothing'; there is: *no_recv*" make -s wire CH=1 CASE=nothing
	refuses "'nothing'; there is: *no_recv*" make -s break CH=1 CASE=nothing
	refuses "case of 01_send_recv '../x'" make -s break CH=1 CASE=../x
	for name in 9 0 nothing ../x; do
		refuses "'$name'; there is: 1 to " \
			make -s exercise CH=01 EX="$name"
	done
	refuses "'99'; there is: $all" scripts/bench.sh 99
	refuses "'nothing'; there is: 05 *08_loop" scripts/bench.sh nothing
	refuses "01_send_recv '1'; there is: 05 " scripts/bench.sh 1
	refuses 'a number of pairs' scripts/bench.sh -p none
}

# fake_deps STATUS: packages that are all there, or not.
fake_deps() {
	printf '#!/bin/sh\n%s\necho "the packages ${NO_INSTALL:-} $*"; exit %s\n' \
		'case $1 in --size) echo "7 of 24 missing, 5 MB to fetch"; exit ;; esac' \
		"$1" >scripts/install_deps.sh
	state >"$BATS_TEST_TMPDIR/before"
}

@test "NO_INSTALL=1 only lists: 0 if all is there, 2 if not; nothing is run" {
	local target

	notice scripts/maint/check.sh
	notice scripts/lab.sh
	fake_deps 0
	export NO_INSTALL=1
	for target in demo check wire conformance; do
		# wire must be told a chapter.
		: >"$NOTICED"
		run -0 make -s "$target" CH="$([[ $target != wire ]] || echo 1)"
		[[ $output == *'the packages 1'* ]]
		run -1 grep -v '^lab.sh status$' "$NOTICED"
	done
	: >"$NOTICED"
	fake_deps 1
	for target in demo check; do
		run -2 make -s "$target"
		[[ $output == *'the packages 1'* ]]
		run -1 grep -v '^lab.sh status$' "$NOTICED"
	done
}

@test "make demo says first what it takes" {
	notice scripts/lab.sh
	fake_deps 1
	run -2 make -s demo CH=01
	[[ $output == *'make demo: 3 runs of 01_send_recv'*'packages  7 of 24'*'5 MB to fetch'*'device '*'build '*'minutes'*'the packages  build lab'* ]]
	# Without a kernel in the cache, one must be fetched; unless one is named.
	# This once, apt is asked itself.
	rm "$STUBS/apt-cache"
	run -0 --separate-stderr scripts/demo.sh --plan 01
	quick_apt
	if [[ $output == *'in the lab'* ]]; then
		[[ $output == *"kernel    to be fetched into $HOME/.cache/rdma-lab: "*' MB'* ||
			$output == *"kernel    this machine's own"* ||
			$output == *'kernel    none yet'* ]]
		LAB_KERNEL=/nowhere run -0 scripts/demo.sh --plan 01
		[[ $output == *'kernel    none yet'*LAB_KERNEL=/nowhere* ]]
		[[ $output == *'memory    at most 1024 MB; '* ]]
		LAB_MEMORY=512 run -0 scripts/demo.sh --plan
		runs=([0-9]*_*/expected/*/commands)
		[[ $output == *"${#runs[@]} runs of 01_send_recv "*'at most 1024 MB; '* ]]
	fi
}

@test "make doctor says what is there, what is missing, and what to type" {
	# A machine on which nothing of Debian's is installed.
	printf '#!/bin/sh\necho "ii ,dpkg,"\n' >"$STUBS/dpkg-query"
	chmod +x "$STUBS/dpkg-query"
	state >"$BATS_TEST_TMPDIR/before"
	run -1 --separate-stderr scripts/doctor.sh
	[[ $output == machine*Linux*'build '*'6 of 6 to be installed'*'fix: scripts/install_deps.sh build'*'lab '*'to be installed'* ]]
	[[ $output == *'setup_rxe.sh --check'*'rxe: '*'state    lab '*'not up'*'kernel '*'memory '*' MB are free'* ]]
	[[ $output == *'doctor: first: scripts/install_deps.sh build lab' ]]
	nothing_done 2>/dev/null || run -1 grep -v '^apt-get install --print-uris' "$NOTICED"
	# With all of them, and a lab, a device of its own, or neither.
	fake_deps 0
	printf '#!/bin/sh\necho "all 9 packages are there"\n' >scripts/install_deps.sh
	printf '#!/bin/sh\necho "rxe: usable now"; exit 0\n' >scripts/setup_rxe.sh
	run -0 --separate-stderr make -s doctor
	[[ $output == *"doctor: ready, on this machine's own device: make demo" ]]
	printf '#!/bin/sh\necho "rxe: can be"; exit 1\n' >scripts/setup_rxe.sh
	run --separate-stderr scripts/doctor.sh
	[[ $output == *'this machine can have its own device: sudo scripts/setup_rxe.sh'* ]]
	printf '#!/bin/sh\necho "rxe: cannot"; exit 2\n' >scripts/setup_rxe.sh
	printf '#!/bin/sh\necho "lab: up for 0:00:01"\n' >scripts/lab.sh
	run -0 --separate-stderr scripts/doctor.sh
	[[ $output == *'doctor: ready, in the lab, which is up: make shell' ]]
	printf '#!/bin/sh\necho "lab: not up"; exit 1\n' >scripts/lab.sh
	LAB_MEMORY=99999999 run -1 --separate-stderr scripts/doctor.sh
	[[ $output == *'at most 99999999 MB'*'neither a device nor the lab yet'* ]]
	run -0 --separate-stderr scripts/doctor.sh
	[[ $output == *'doctor: ready, in the lab: make demo; or make lab, make shell' ]]
	run -2 scripts/doctor.sh now
}
