#!/usr/bin/env bats
#
# check_lanes.bats - scripts/lib/lanes.sh, which runs test files side by side:
# each exactly once, three with a device at a time, and nothing is left behind
#
# The device, and what a lane does with a file, are made up here.
# shellcheck disable=SC2154,SC2034 # set by run, or used by lanes.sh
# shellcheck disable=SC2317 # called by lanes.sh

# shellcheck source=scripts/lib/lanes.sh
source "$BATS_TEST_DIRNAME/../scripts/lib/lanes.sh"

setup() {
	TREE=$BATS_TEST_TMPDIR/tree
	mkdir -p "$TREE/build" "$BATS_TEST_TMPDIR/dir"
	cd "$TREE" || return
	unset LANES DEVICE LAB_NAME
	lanes_top=$TREE
}

note() { echo "$*" >>"$BATS_TEST_TMPDIR/notes"; }
noted() { grep -qx "$1" "$BATS_TEST_TMPDIR/notes"; }
how_often() { grep -cx "$1" "$BATS_TEST_TMPDIR/notes" || true; }

device_open() {
	note "open $1 $LAB_NAME"
	device_where=lab
	[[ $LAB_NAME != "${NO_DEVICE:-}" ]]
}
device_close() { note "close $LAB_NAME"; }

# A file is the name of a function here.
lanes_job() { note "$1 in ${PWD##*/}"; "$1"; }
well() { :; }
ill() { echo 'it is ill'; return 1; }
# Two that end only when the other has begun.
left() { await_note 'right in .*'; }
right() { await_note 'left in .*'; }
await_note() {
	local end=$((SECONDS + 60))

	until noted "$1"; do
		[[ $SECONDS -lt $end ]] || return 1
		read -rt 0.1 <> <(:) || true
	done
}
forever() { read -r <> <(:); }

# lanes PLAIN DEVICE: with the words of each as files.
lanes() {
	tr ' ' '\n' <<<"$1" | sed '/^$/d' >build/plain
	tr ' ' '\n' <<<"$2" | sed '/^$/d' >build/device
	lanes_run "$BATS_TEST_TMPDIR/dir" build/plain build/device
}

@test "every file runs once, and the last line says so" {
	run -0 lanes 'well true' 'true well'
	[[ ${lines[-1]} == *'4 of 4 files have ended; running: none' ]]
	[[ $(how_often 'well in .*') -eq 2 && $(how_often 'true in .*') -eq 2 ]]
}

@test "three files with a device run at a time, with a lab for each" {
	left() { await_note 'right in .*' && await_note 'third in .*'; }
	third() { await_note 'left in .*'; }
	LAB_NAME=x run -0 lanes '' 'left right third'
	noted 'open 2 x-1' && noted 'open 2 x-2' && noted 'open 2 x-3'
	noted 'close x-1' && noted 'close x-2' && noted 'close x-3'
}

@test "files with virtual machines: one lane's while others are left; then their lab goes" {
	# Neither lane takes a second file before the other has its first.
	left() { await_note 'other in .*'; }
	other() { await_note 'left in .*'; }
	# The first lane is at its second file until the second lane has its own.
	second() { await_note 'well in .*'; }
	last() { noted 'down x-1-tcg'; }
	mkdir -p scripts
	printf '#!/bin/sh\necho "$1 $LAB_NAME" >>"%s"\n' "$BATS_TEST_TMPDIR/notes" >scripts/lab.sh
	chmod +x scripts/lab.sh
	printf '%s\n' left second >build/emulated
	tr ' ' '\n' <<<'left second other well last' >build/device
	well() { await_note 'down x-1-tcg'; }
	: >build/plain
	LANES=2 LAB_NAME=x run -0 lanes_run "$BATS_TEST_TMPDIR/dir" build/plain build/device build/emulated
	noted 'left in tree' && noted 'second in tree'
	noted 'other in 2' && noted 'well in 2'
}

@test "files without a device run beside the others, and yield to them" {
	left() { await_note 'right in .*, at .*'; }
	right() { await_note 'left in .*'; }
	lanes_job() { note "$1 in ${PWD##*/}, at $(nice)"; "$1"; }
	LANES=1 LAB_NAME=x run -0 lanes left right
	noted "left in tree, at $(($(nice) + 5))"
	noted "right in tree, at $(nice)"
}

@test "when no file with a device is left, the first lane helps with the others" {
	well() { [[ $LAB_NAME == x-1 ]]; }
	left() { await_note 'right in tree, .*'; }
	right() { await_note 'left in tree, .*'; }
	lanes_job() { note "$1 in ${PWD##*/}, lab ${LAB_NAME:-none}"; "$1"; }
	LAB_NAME=x run -0 lanes 'left right' well
	# It has closed its own, x-1.
	noted 'close x-1' && noted 'left in tree, lab x' && noted 'right in tree, lab x'
	ill() { return 1; }
	run -1 lanes 'left right' ill
}

@test "the second lane works in a copy that has git's list of files" {
	echo hello >"$TREE/tracked"
	left() { await_note 'right in .*' && see; }
	right() { await_note 'left in .*' && see; }
	see() { [[ -e tracked ]] && note "$(git ls-files tracked) ${PWD#"$TREE"}"; }
	git init -q
	git add -A
	LANES=2 run -0 lanes '' 'left right'
	noted 'tracked ' && noted 'tracked /build/lane/2'
}

@test "a tree that cannot be copied: nothing runs, rather than two lanes in one tree" {
	: >build/lane
	LAB_NAME=x run -1 lanes well 'well true'
	[[ ! -e $BATS_TEST_TMPDIR/notes ]]
}

@test "files without a device run two at a time when there are no others" {
	run -0 lanes 'left right' ''
}

@test "what failed says so at once, and not only at the end" {
	ill() {
		printf '%s\n' 'ok 1 one' '# not this' 'not ok 2 two' '# because' \
			>"$BATS_TEST_TMPDIR/dir/ill.tap"
		return 1
	}
	run -1 lanes '' ill
	[[ $output == 'FAILED  ill '*$'s\nnot ok 2 two\n# because\n    1 of 1 files'* ]]
	ill() { echo 'it has no results'; return 1; }
	rm "$BATS_TEST_TMPDIR/dir"/*
	run -1 lanes '' ill
	[[ $output == 'FAILED  ill '*$'s\nit has no results\n    1 of 1 files'* ]]
}

@test "a file that fails fails the run, and the others run all the same" {
	run -1 lanes '' 'ill well'
	[[ $output == *'FAILED  ill '*'ok      well '* ||
		$output == *'ok      well '*'FAILED  ill '* ]]
	[[ $(<"$BATS_TEST_TMPDIR/dir/ill.out") == 'it is ill' ]]
	run -1 lanes ill ''
}

@test "a lane without a device fails the run; the other does its work" {
	LANES=2 LAB_NAME=x NO_DEVICE=x-1 run -1 lanes '' 'well true well'
	[[ $output == *'lane 1 has no device'* ]]
	[[ $(how_often '.* in 2') -eq 3 ]]
}

@test "a single file with a device takes a single lab" {
	LAB_NAME=x run -0 lanes 'well true' well
	noted 'open 2 x-1'
	run ! noted 'open . x-2'
}

@test "LANES=1 and DEVICE=host: one after another" {
	LANES=1 LAB_NAME=x run -0 lanes '' 'well true'
	run ! noted 'open . x-2'
	DEVICE=host LAB_NAME=y run -0 lanes '' 'well true'
	noted 'open 1 y-1'
	run ! noted 'open . y-2'
}

@test "a run that is ended ends its lanes and closes its devices" {
	local pid end=$((SECONDS + 60))

	LAB_NAME=x lanes forever 'forever forever' 3>&- &
	pid=$!
	until [[ $(how_often 'forever in .*') -eq 3 ]]; do
		[[ $SECONDS -lt $end ]]
		read -rt 0.1 <> <(:) || true
	done
	kill "$pid"
	status=0
	wait "$pid" || status=$?
	[[ $status -eq 1 ]]
	noted 'close x-1' && noted 'close x-2'
	run ! pgrep -f "$BATS_TEST_TMPDIR/dir"
}

# As build/tests is that of the lane with a device that works in the same tree.
@test "a file with a lab of its own builds where no other does" {
	local file places

	cd "$BATS_TEST_DIRNAME"
	places=$(grep -l '^load lab$' ./*.bats | while read -r file; do
		! grep -q '^load helpers$' "$file" ||
			grep -m 1 '^TEST_BUILDS=build/tests/.' "$file" ||
			echo "$file says no TEST_BUILDS"
	done | sort)
	[[ $places == *siw && $places != *' says '* ]]
	[[ -z $(uniq -d <<<"$places") ]]
}
