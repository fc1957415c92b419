# helpers.bash - what the tests on real RDMA devices have in common
#
#   setup_file() { open_device; build_chapter 01_send_recv; }
#
# The device is where scripts/lib/device.sh finds it: a lab with two nodes that is
# up already, or one that is booted for the file; with DEVICE=host, this host.
# Programs are built in build/tests/, never in the chapter's own folder. A file that
# has a lab of its own runs beside one of the others, and says before helpers are
# loaded where else it builds:   TEST_BUILDS=build/tests/NAME
# shellcheck shell=bash

top=$(cd "${BASH_SOURCE[0]%/*}/.." && pwd)
builds=$top/${TEST_BUILDS:-build/tests}
# shellcheck source=scripts/lib/device.sh
source "$top/scripts/lib/device.sh"
# shellcheck source=scripts/lib/chapter.sh
source "$top/scripts/lib/chapter.sh"
# device.sh has just forgotten what setup_file found for the whole file.
device_where=${TEST_DEVICE_WHERE:-}
device_host_address=${TEST_DEVICE_ADDRESS:-}

# is_asked CHAPTER: whether a test that goes through the chapters goes through this
# one: all, if CHECK_CHAPTERS names none (make check CH=04).
is_asked() {
	[[ -z ${CHECK_CHAPTERS:-} || " $CHECK_CHAPTERS " == *" $1 "* ]]
}

open_device() {
	if [[ ${DEVICE:-} == host ]]; then
		device_open 1
	else
		device_open 2
	fi
	# What the tests start need not look again.
	export DEVICE=$device_where TEST_DEVICE_WHERE=$device_where
	export TEST_DEVICE_ADDRESS=${device_host_address:-}
	export TEST_EMULATED=${EMULATED_LAB:-emulated-$$}
}

# Runs in the same shell as setup_file. A file that has more to undo calls close_device in
# a teardown_file of its own.
teardown_file() {
	close_device
}
close_device() {
	device_close
	[[ -n ${EMULATED_LAB:-} || -z ${TEST_EMULATED:-} ]] ||
		LAB_NAME=$TEST_EMULATED "$top/scripts/lab.sh" down 2>/dev/null
}

# full_size COMMAND…: runs it with a device whose node has two processors: a User-Mode
# Linux node has one, so there it is a virtual machine of NODES nodes (default: 1; for
# a whole worker of pytest 2), made when it is first needed.
full_size() {
	[[ $device_where == lab ]] &&
		"$top/scripts/lab.sh" status | grep -qx 'engine: uml' || {
		"$@"
		return
	}
	local -x LAB_NAME=$TEST_EMULATED LAB_ENGINE=tcg
	local nodes=${NODES:-1}

	[[ -z ${EMULATED_LAB:-} ]] || nodes=2

	"$top/scripts/lab.sh" up --nodes "$nodes" 2>/dev/null
	"$@"
}

# For a test that no single host can run, or that would take its device away.
needs_lab() {
	[[ $device_where == lab ]] || skip "this test needs the lab"
}

# Builds CHAPTER as it is.
build_chapter() {
	local dir=$builds/$1.plain

	chapter_update "$top/$1" "$dir"
	make -s -C "$dir" CFLAGS='-O2 -g -Werror'
}

# as_logged WHAT COMMAND…: a run whose logs differ from the recorded ones fails. One
# that cannot succeed on this kernel says so with status 3.
as_logged() {
	local what=$1 said status=0

	shift
	said=$("$@" 2>&1) || status=$?
	[[ $status -ne 0 ]] || return 0
	if [[ $status -eq 3 ]]; then
		echo "# ${said##*$'\n'}" >&3
		return 0
	fi
	echo "$what: $said"
	return 1
}

# run_matches COMMANDS EXPECTED [OPTION…]: runs the programs that the file
# COMMANDS names, and compares what they say with the logs in EXPECTED.
run_matches() {
	as_logged "$1" one_matches "$@"
}
one_matches() {
	local commands=$1 expected=$2 out=$BATS_TEST_TMPDIR/run answer

	shift 2
	"$top/scripts/pair.sh" "$@" "$commands" "$out" || return
	answer=$("$top/scripts/compare_logs.sh" "$out" "$expected") || {
		echo "$answer"
		tail -n +1 "$out"/*
		return 1
	}
	[[ $answer == *matches* ]]
}

# assert_runs_match CHAPTER [VARIANT]: every logged run of CHAPTER can be had
# again, with its plain (default) or its sanitized build.
assert_runs_match() {
	local expected=$top/$1/expected commands count=0

	for commands in "$expected"/*/commands; do
		run_matches "$commands" "$(dirname "$commands")" \
			-d "$builds/$1.${2:-plain}"
		count=$((count + 1))
	done
	[[ $count -gt 0 ]] || {
		echo "there is no logged run in $expected"
		return 1
	}
}
