#!/usr/bin/env bash
# check.sh - build everything and pass all tests
#
# usage: scripts/maint/check.sh [fast|long|changed|CHAPTER]
#        (make check, check-fast, check-long, check-changed, check CH=04)
#
# Without an argument: the unit tests and every tests/*.bats. fast: what
# takes a minute and a half, and needs neither a device nor a VM. long: tests/long/*.bats, which take more than
# a quarter of an hour. A chapter, or changed: the tests that concern that chapter, or
# what differs from main. scripts/maint/check_plan.py knows which those are, and which
# are fast; its -h says what is left out.
#
# Most tests wait more than they compute, so test files run side by side, in
# lanes (scripts/lib/lanes.sh). LANES=1 runs them one after another. At the end
# come the ten slowest tests and what scripts/maint/check_summary.sh says. A test that
# fails while the machine stalls is run once more (tests/stalls.bash). The results are
# in build/tap/, and in build/junit.xml for programs that read JUnit.
set -euo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$top"
# shellcheck source=scripts/lib/cli.sh
source scripts/lib/cli.sh
# shellcheck source=scripts/lib/device.sh
source scripts/lib/device.sh
# shellcheck source=scripts/lib/lanes.sh
source scripts/lib/lanes.sh

cli_help "$@"
case ${1:-all} in
all | fast | long | changed | --unit) mode=${1:-all} ;;
*)
	cli_chapter "$1"
	mode=chapter
	;;
esac
cli_checked

# Each test file says what it needs: a device (open_device, or a lab that it
# starts), machines of its own (it loads lab.bash, puts faults in, or opens the lab
# in a browser), or nothing.
mapfile -t own < <(grep -lE '^load lab$|mutants/run.py" --sample|web/check.sh' tests/*.bats)
mapfile -t device < <(grep -lE '^[^#]*(open(_still)?_device|lab\.sh up)' tests/*.bats |
	grep -vxF -f <(printf '%s\n' "${own[@]}"))
mapfile -t fast < <(printf '%s\n' tests/*.bats |
	grep -vxF -f <(printf '%s\n' "${own[@]}" "${device[@]}"))

# Of those with a device, the ones that have a part in virtual machines, whose lab they
# share. They come first; those that use RDS there come last of them, as it then holds
# the device.
emulated_last=(tests/06_modules.bats tests/stock_kernel.bats)
mapfile -t emulated < <(grep -lE '^[^#]*(full_size|EMULATED_LAB)' "${device[@]}")

# Of the others, those that look at the wire come first: the connections of RDS stay until
# the kernel ends, and talk now and then, which is not what they are to find. Then come
# those that take longest, so that no lane ends long after the others.
first=(tests/{reach,wire,wiretap,networks,04_wire,05_multiclient,06_rds,07_files}.bats
	tests/{ends,04_tls_psn,08_event_loop,exercises_wrong,exercises,repair}.bats
	tests/{07_full_speed,01_send_recv,07_slow_disk,03_pure_verbs,mutants}.bats)

# all_but FILE…: the files of stdin without these.
all_but() { grep -vxF -f <(printf '%s\n' "$@") || true; }

# Those that need a device, one a line, in the order in which they begin.
on_virtual_machines() {
	printf '%s\n' "${emulated[@]}" | all_but "${emulated_last[@]}"
	printf '%s\n' "${emulated_last[@]}"
}
on_a_device() {
	on_virtual_machines
	printf '%s\n' "${first[@]}" | all_but "${emulated[@]}"
	printf '%s\n' "${device[@]}" | all_but "${emulated[@]}" "${first[@]}"
}

# The unit tests, as a lane's job: one result for each program.
if [[ $mode == --unit ]]; then
	part=build/tap/unit_programs.part
	[[ ! -e $part ]] || asked=$(sed -n 2p "$part")
	exec make -s -j2 -C tests/unit check TAP="$top/build/tap" \
		CHAPTERS_ASKED="${asked:-}"
fi

tap=build/tap
rm -rf "$tap"
mkdir -p "$tap"
status=0
# Which of the tests in a list are planned.
planned() { grep -xF -f "$tap/files" || true; }
case $mode in
changed | fast) scripts/maint/check_plan.py -l "$tap" "$mode" ;;
chapter) scripts/maint/check_plan.py -l "$tap" chapter "$chapter" ;;
esac
[[ $mode != changed || -s $tap/files ]] || exit 0
# The tests compile the same files in many folders, and in each run again.
for compilers in /usr/lib/ccache /usr/lib64/ccache; do
	[[ ! -d $compilers ]] || PATH=$compilers:$PATH
done
export PATH CCACHE_NOHASHDIR=1 CCACHE_MAXSIZE=1G
cache=${XDG_CACHE_HOME:-$HOME/.cache}/rdma-lab
export CCACHE_DIR=$cache/compiled
# What Python has compiled in one lane is good for the others.
export PYTHONPYCACHEPREFIX=$top/build/python
make -s all
# The tests link some 700 programs, most with debug information. gold needs half of the time.
if command -v ld.gold >/dev/null; then
	mkdir -p "$cache/gold"
	ln -sf "$(command -v ld.gold)" "$cache/gold/ld"
	export COMPILER_PATH=$cache/gold
fi
# So that a test which fails is not blamed for what the machine did.
export CHECK_STALLS=$top/$tap/stalls
scripts/maint/stalls.sh $$ >"$CHECK_STALLS" &
scripts/maint/processor_time.py $$ >"$tap/processors" &
watcher=$!
export CHECK_PROCESSES=$$
case $mode in
fast)
	printf '%s\n' unit "${fast[@]}" | planned >"$tap/plain"
	lanes_run "$tap" "$tap/plain" /dev/null || status=1
	;;
long)
	printf '%s\n' tests/long/*.bats >"$tap/device"
	LANES=${LANES:-2} lanes_run "$tap" /dev/null "$tap/device" || status=1
	;;
all)
	printf '%s\n' unit "${own[@]}" "${fast[@]}" >"$tap/plain"
	on_a_device >"$tap/device"
	on_virtual_machines >"$tap/emulated"
	lanes_run "$tap" "$tap/plain" "$tap/device" "$tap/emulated" || status=1
	;;
changed | chapter)
	printf '%s\n' unit "${own[@]}" "${fast[@]}" | planned >"$tap/plain"
	on_a_device | planned >"$tap/device"
	on_virtual_machines >"$tap/emulated"
	lanes_run "$tap" "$tap/plain" "$tap/device" "$tap/emulated" || status=1
	;;
esac
# Without its plan, a file's results would not be read as TAP.
tap_junit "$tap"/*.tap >build/junit.xml || true
kill -TERM "$watcher" || true
wait "$watcher" || true
scripts/maint/check_summary.sh "$tap" "$status"
