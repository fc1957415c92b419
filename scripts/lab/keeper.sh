#!/bin/bash
# The process that owns a lab: it takes the state directory, starts the
# nodes, and takes everything away when told to, when it is killed by a
# signal, or when the `up` that started it is gone before the lab is ready.
# Started by ../lab.sh only: standard input and output are its pipes.
#
# To `up` it writes lines: "step TEXT", "error TEXT", "busy", "ready".
# From `up` it reads one line: "keep". End of file means that `up` has died.
set -uo pipefail

# shellcheck source=scripts/lab/common.sh
. "${0%/*}/common.sh"
# shellcheck source=scripts/lab/kernel.sh
. "$LAB_PARTS/kernel.sh"
# shellcheck source=scripts/lab/image.sh
. "$LAB_PARTS/image.sh"
# shellcheck source=scripts/lab/node.sh
. "$LAB_PARTS/node.sh"

nodes=${1:?}
declare -A node_pid=() master_pid=()
child='' lock='' fetch_progress='' fetch_size=0 owner=''

step() { printf 'step %s\n' "$1"; }
note() { printf '%s\n' "$1" >>"$LAB_STATE/notes"; }

# teardown STATUS: end every child, remove every file, exit.
teardown()
{
	local pid

	trap '' TERM INT HUP
	for pid in "${node_pid[@]}" "${master_pid[@]}" $child; do
		kill -KILL "$pid" 2>/dev/null
	done
	wait
	[ -z "$owner" ] || rm -rf "$LAB_STATE"
	exit "$1"
}

# fail WHAT [DETAIL...]: tell `up` and end.
fail()
{
	local line

	for line; do
		printf 'error %s\n' "$line"
	done
	# Not from a $(...): only the keeper itself tears down.
	[ "$BASHPID" = "$$" ] && teardown 1
	exit 1
}

# fail_log WHAT FILE [DETAIL...]: the same, with the end of a log.
fail_log()
{
	local what=$1 log=$2 lines

	shift 2
	mapfile -t lines < <(tail -n 15 "$log" 2>/dev/null | tr -cd '\11\12\40-\176')
	fail "$what" "$@" "The end of the log:" "${lines[@]/#/| }"
}

fail_cache()
{
	fail "cannot write in the cache directory $LAB_CACHE" \
		"The guest's kernel is kept there." \
		"Set LAB_CACHE to a directory that you may write to."
}

# pause SECONDS: sleep, but notice at once when `up` is gone.
pause()
{
	local line rc=0

	[ "$BASHPID" = "$$" ] || fail "pause in a subshell"
	read -r -t "$1" line || rc=$?
	[ "$rc" -gt 128 ] || teardown 1
}

# watched COMMAND...: run it, and notice when `up` is gone.
watched()
{
	"$@" {lock}<&- </dev/null >"$LAB_CACHE/tmp.kernel.log" 2>&1 &
	child=$!
	while kill -0 "$child" 2>/dev/null; do
		pause 0.1
	done
	wait "$child"
	local rc=$?
	child=
	return "$rc"
}

cache_lock() { exec {cache_fd}<"$LAB_CACHE" && flock "$cache_fd"; }
cache_unlock() { exec {cache_fd}<&-; }

# Take the state directory, or say that somebody else has it.
take_state()
{
	umask 077
	mkdir "$LAB_STATE" 2>/dev/null
	if [ ! -d "$LAB_STATE" ] || [ ! -O "$LAB_STATE" ] || [ -L "$LAB_STATE" ]; then
		fail "$LAB_STATE is not a directory of yours" \
			"The lab keeps its state there." "Set LAB_NAME to another name."
	fi
	exec {lock}<"$LAB_STATE" || exit 1
	if ! flock -n "$lock"; then
		echo busy
		exit 1
	fi
	owner=1
	find "$LAB_STATE" -mindepth 1 -delete
}

# boot: all nodes to the line "ready".
boot()
{
	local node rc

	accel=tcg
	step "booting ($accel)"
	for node in "${names[@]}"; do
		node_start "$node" "$accel"
	done
	for node in "${names[@]}"; do
		rc=0
		node_await "$node" ready 120 || rc=$?
		case $rc in
		1) fail_log "node $node did not get ready in 120 s" "$LAB_STATE/console-$node" ;;
		2) fail_log "node $node died during boot" "$LAB_STATE/console-$node" "$(cat "$LAB_STATE/qemu-$node")" ;;
		esac
	done
	for node in "${names[@]}"; do
		step "connecting to node $node"
		node_connect "$node" ||
			fail_log "cannot connect to node $node" "$LAB_STATE/master-$node"
		note "pid_$node=${node_pid[$node]}"
	done
}

trap 'teardown 1' TERM INT HUP
trap : PIPE
cd /
names=(a)
[ "$nodes" = 1 ] || names=(a b)
take_state
exec 2>"$LAB_STATE/keeper"
step "kernel"
kernel_find
step "image"
image_build
boot
note "nodes=$nodes"
note "accel=$accel"
note "kernel=$version"
note "keeper=$$"
note "started=$EPOCHSECONDS"
echo ready
read -r word && [ "$word" = keep ] || teardown 1
: >"$LAB_STATE/up"
exec </dev/null >/dev/null
while :; do
	wait -n
	[ $? -ne 127 ] || teardown 1
done
