#!/bin/bash
# usage: keeper.sh NODES      (lab.sh runs it, and nobody else)
#
# The process that owns a lab: it takes the state directory, starts the
# nodes, and takes everything away when it is told to (`down` sends TERM) or
# when the `up` that started it is gone before the lab is ready. Whatever it
# starts dies with it, even if it is killed with -9.
#
# Started by ../../lab.sh only; standard input and output are its pipes. Lines to
# `up`: "step TEXT", "detail TEXT", "warning TEXT", "error TEXT", "busy", "ready". From `up`:
# "keep", once ready. End of file before that means that `up` has died. For
# `fetch` it gets a kernel and no more, and says "fetched RELEASE IMAGE".
set -uo pipefail

# shellcheck source=scripts/lib/cli.sh
. "${0%/*}/../cli.sh"
cli_help "$@"
# shellcheck source=scripts/lib/lab/common.sh
. "${0%/*}/common.sh"
# shellcheck source=scripts/lib/lab/kernel.sh
. "$LAB_PARTS/kernel.sh"
# shellcheck source=scripts/lib/lab/fetch.sh
. "$LAB_PARTS/fetch.sh"
# shellcheck source=scripts/lib/lab/engine.sh
. "$LAB_PARTS/engine.sh"
# shellcheck source=scripts/lib/lab/image.sh
. "$LAB_PARTS/image.sh"
# shellcheck source=scripts/lib/lab/sandbox.sh
. "$LAB_PARTS/sandbox.sh"
# shellcheck source=scripts/lib/lab/node.sh
. "$LAB_PARTS/node.sh"
# shellcheck source=scripts/lib/lab/slot.sh
. "$LAB_PARTS/slot.sh"
# shellcheck source=scripts/lib/lab/clock.sh
. "$LAB_PARTS/clock.sh"

declare -A pid_of=()
ending='' lock='' cache='' child='' owner='' download_dir='' download_size=0
kernel='' modules='' version='' accel='' apt_says='' busybox=''

step() { printf 'step %s\n' "$1"; }
detail() { printf 'detail %s\n' "$1"; }
warning() { printf 'warning %s\n' "$1"; }
note() { printf '%s\n' "$1" >>"$LAB_STATE/notes"; }

# teardown STATUS: end every child, remove every file, exit.
teardown()
{
	trap '' TERM INT HUP
	for pid in "${pid_of[@]}" ${child:+"$child" "-$child"}; do
		kill -KILL -- "$pid" 2>/dev/null
	done
	wait
	[ -z "$owner" ] || await_ssh
	[ -z "$cache" ] || cache_unlock
	[ -z "$owner" ] || rm -rf "$LAB_STATE"
	exit "$1"
}

# await_ssh: connections end with their node and then remove their sockets.
await_ssh()
{
	local tries

	for ((tries = 0; tries < 100; tries++)); do
		[ -n "$(find "$LAB_STATE" -type s -name 'ssh-*')" ] || return
		sleep 0.05
	done
}

# fail WHAT [DETAIL...]: tell `up`, and end. Never call it in a subshell:
# nobody would tear down.
fail()
{
	printf 'error %s\n' "$@"
	teardown 1
}

# fail_log WHAT FILE [DETAIL...]: the same, with the end of a log.
fail_log()
{
	local what=$1 file=$2
	local -a end=()

	shift 2
	mapfile -t end < <(lab_end "$file")
	[ "${#end[@]}" -eq 0 ] || end=("From ${file##*/}:" "${end[@]/#/| }")
	fail "$what" "$@" ${end[0]:+"${end[@]}"}
}

# pause SECONDS: sleep, but end at once when `up` is gone or we are to end.
pause()
{
	local rc=0

	read -r -t "$1" _ || rc=$?
	if [ -n "$ending" ] || [ "$rc" -le 128 ]; then
		teardown 1
	fi
}

# await_keep: `up` must say that it saw that the lab is ready.
await_keep()
{
	local word='' part rc=129

	while [ "$rc" -gt 128 ]; do
		rc=0
		read -r -t 1 part || rc=$?
		word+=$part
		[ -z "$ending" ] || teardown 1
	done
	[ "$word" = keep ] || teardown 1
}

# watched COMMAND...: run it in the background, in a process group of its own,
# which ends when `up` is gone. What it says is in $LAB_STATE/command.
watched()
{
	local rc=0 have

	set -m
	"$@" {lock}<&- </dev/null >"$LAB_STATE/command" 2>&1 &
	child=$!
	set +m
	while kill -0 "$child" 2>/dev/null; do
		pause 0.1
		if [ -n "$download_dir" ] && [ "$download_size" -gt 0 ]; then
			have=$(du -sk "$download_dir" | cut -f 1)
			detail "$((have * 102400 / download_size)) %"
		fi
	done
	wait "$child" || rc=$?
	child=
	return "$rc"
}

# Take the state directory: it is ours as long as we hold its lock.
take_state()
{
	umask 077
	mkdir "$LAB_STATE" 2>/dev/null
	if [ ! -d "$LAB_STATE" ] || [ ! -O "$LAB_STATE" ] || [ -L "$LAB_STATE" ]; then
		fail "$LAB_STATE is not a directory of yours" \
			"The lab keeps its state there, and it was made by somebody else, or /tmp is not writable." \
			"Set LAB_NAME to another name."
	fi
	exec {lock}<"$LAB_STATE" || fail "cannot open $LAB_STATE"
	if ! flock -n "$lock" || ! lab_same "$lock"; then
		echo busy
		exit 1
	fi
	owner=1
	find "$LAB_STATE" -mindepth 1 -delete
	umask 022
	exec 2>"$LAB_STATE/keeper"
	note "keeper=$$"
}

# guard: wait for nodes to end. Their consoles stay readable until `down`.
guard()
{
	local node ended status

	while [ "${#pid_of[@]}" -gt 0 ]; do
		status=0
		wait -n -p ended || status=$?
		[ -z "$ending" ] || teardown 0
		for node in "${!pid_of[@]}"; do
			[ "${pid_of[$node]}" = "$ended" ] || continue
			echo "$status" >"$LAB_STATE/dead-$node"
			unset "pid_of[$node]"
		done
	done
	sleep infinity {lock}<&- &
	child=$!
	wait "$child"
	teardown 0
}

PATH+=:/usr/sbin:/sbin
cd /
# Whoever started `up` may wait for the end of a pipe that we inherited.
for fd in /proc/self/fd/*; do
	fd=${fd##*/}
	[ "$fd" -le 2 ] || [ "$fd" -eq 255 ] || exec {fd}<&-
done
# Not more than this: bash may go on after an `exit` in a trap during `read`.
trap 'ending=1' TERM INT HUP
trap : PIPE
names=(a b c d)
[ "${1:?}" = fetch ] || names=("${names[@]:0:$1}")
take_state
engine_choose
[ "$1" = fetch ] || sandbox_root
if [ "$accel" = uml ] && [ "$1" != fetch ]; then
	export LAB_DEVICE=$lab_driver
	exec "${lab_python[@]}" lab.keeper "${#names[@]}"
fi
step "looking for a kernel"
kernel_find
[ "$lab_driver" = rxe ] || kernel_siw
if [ "$1" = fetch ]; then
	echo "fetched $version $kernel"
	teardown 0
fi
step "building the boot image (kernel $version)"
image_build
boot
note "nodes=${#names[@]}"
note "accel=$accel"
note "device=$lab_driver"
note "kernel=$version"
note "image=$kernel"
note "started=$EPOCHSECONDS"
echo ready
await_keep
rm -f "$LAB_STATE/initrd" "$LAB_STATE/command"
: >"$LAB_STATE/up"
exec </dev/null >/dev/null
guard
