#!/usr/bin/env bash
# check.sh - build everything and pass all tests
#
# usage: scripts/maint/check.sh [fast|long]     (make check, check-fast, check-long)
#
# Without an argument: unit tests, then every tests/*.bats on one lab with two
# nodes (or on this host's RDMA device, where a test needs only one). fast:
# only what needs neither a device nor a VM. long: tests/long/*.bats, which
# take more than a quarter of an hour. The end of a run is told by
# scripts/maint/check_summary.sh.
set -euo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$top"
# shellcheck source=scripts/lib/cli.sh
source scripts/lib/cli.sh
# shellcheck source=scripts/lib/device.sh
source scripts/lib/device.sh

cli_help "$@"

# The files that run without a device: every other one needs real rxe.
fast=(tests/04_certs.bats tests/carry_forward.bats tests/check_summary.bats
	tests/compare_apart.bats tests/compare_counts.bats
	tests/compare_logs.bats tests/concepts.bats tests/docs.bats tests/fuzz.bats
	tests/install_deps.bats tests/once_more.bats tests/readme.bats
	tests/setup_rds_check.bats
	tests/setup_rxe_check.bats tests/setup_rxe_host.bats
	tests/spelling.bats tests/style.bats
	tests/wire_replay.bats)

# Those that use RDS come last: its connections stay until the kernel ends, and
# talk now and then, which is not what a look at the wire is to find.
last=(tests/06_rds.bats tests/exercises.bats)

# All files, one a line, in the order in which they run.
all_files() {
	printf '%s\n' tests/*.bats | grep -vxF -f <(printf '%s\n' "${last[@]}")
	printf '%s\n' "${last[@]}"
}

tap=build/tap
rm -rf "$tap"
mkdir -p "$tap"

# Runs bats files under prove; their TAP is kept for the summary.
run_bats() {
	prove --timer --exec "scripts/maint/bats_tap.sh $tap" "$@"
}

status=0
make -s all
case ${1:-all} in
fast)
	make -s -C tests/unit check TAP="$top/$tap"
	run_bats "${fast[@]}" || status=1
	;;
long)
	trap device_close EXIT
	LAB_NAME=${LAB_NAME:-check-$$}
	export LAB_NAME
	device_open 2
	run_bats tests/long/*.bats || status=1
	;;
all)
	make -s -C tests/unit check TAP="$top/$tap"
	trap device_close EXIT
	LAB_NAME=${LAB_NAME:-check-$$}
	export LAB_NAME
	device_open 2
	# One lab for all: the tests of setup_rxe.sh leave it as it was.
	[[ $device_where != lab ]] || export DEVICE_TESTS_LAB=$LAB_NAME
	mapfile -t files < <(all_files)
	run_bats "${files[@]}" || status=1
	;;
*)
	sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"
	exit 2
	;;
esac
scripts/maint/check_summary.sh "$tap" "$status"
