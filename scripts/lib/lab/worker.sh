#!/bin/bash
# usage: worker.sh NODE ID SCRIPT FD      (lab.sh runs it, and nobody else)
#
# The other half of `lab.sh exec`: runs the command by ssh, in a session of
# its own, so that a Ctrl-C reaches lab.sh alone, which then sends the name of
# the signal down our standard input. The signal goes to the command in the
# guest, whose status then comes back as always. End of file means that lab.sh
# was killed: the command is killed too. FD is the command's standard input.
set -uo pipefail

# shellcheck source=scripts/lib/cli.sh
. "${0%/*}/../cli.sh"
cli_help "$@"
# shellcheck source=scripts/lib/lab/common.sh
. "${0%/*}/common.sh"

# shellcheck source=scripts/lib/lab/slot.sh
. "$LAB_PARTS/slot.sh"

node=$1 id=$2 script=$3 in=$4

# deliver SIGNAL: until it has reached somebody, or the command has ended.
deliver()
{
	until slot_ssh "$node" "/run/lab/busybox sh /run/lab/guest-signal.sh $id $1"; do
		kill -0 $$ || return
		sleep 0.1
	done </dev/null
}

# messenger: pass on the signals that lab.sh names.
messenger()
{
	local signal

	while read -r signal; do
		[ -S "$slot" ] || slot_take "$node" || return
		deliver "$signal"
	done
	slot_take "$node" || return
	deliver KILL
}

# failed [STATUS]: our status is 255. If the connection is gone, exec is told
# so: the command itself may have returned 255, too. (The socket may still be
# there: ssh removes it only when it has told all that talk through it.)
failed()
{
	if [ "${1-}" != "$slot_none" ] &&
		! slot_ssh -O check "$node" 2>/dev/null; then
		{ : >"$LAB_STATE/lost-$id"; } 2>/dev/null
	fi
	exit 255
}

exec {life}<&0 </dev/null
slot=
messenger <&"$life" {life}<&- {in}<&- >/dev/null 2>&1 &
messenger=$!
exec {life}<&-
slot_take "$node" || failed $?
if [ "${#script}" -gt 2000 ]; then
	# dropbear takes commands of at most 9000 bytes: a longer one goes
	# ahead as a file.
	file=/run/lab/script.$id
	printf '%s\n' "$script" | slot_ssh "$node" "umask 077; cat >$file" || failed
	script="LAB_EXEC=$id
exec 3<$file; rm $file; . /dev/fd/3"
fi

# ssh would make the files that it writes to non-blocking, which others who
# write to them are not prepared for: so it gets pipes.
{
	{
		slot_ssh "$node" "$script" <&"$in" {in}<&- 2>&1 >&3 3>&- |
			cat >&2 {in}<&- 3>&-
		exit "${PIPESTATUS[0]}"
	} 3>&1 | cat {in}<&-
	rc=${PIPESTATUS[0]}
}
kill "$messenger" 2>/dev/null
[ "$rc" -ne 255 ] || failed
exit "$rc"
