# shellcheck shell=bash
# Connections to the nodes. Opening one takes half a second under emulation,
# so they stay open, and ssh sends one command after another through each.
# Never two at a time: dropbear (2022.83) may close a session that is just
# being opened when another one on the same connection ends. So a connection
# is a slot with a lock, and whoever has the lock has the connection.

slot_count=40
# The status of slot_take when all of them are taken, which it has then said.
slot_none=2

# slot_take NODE: lock a free slot, whose connection is then open. slot is the
# path of ssh's control socket; the lock is held as long as slot_lock is open.
slot_take()
{
	local number

	for ((number = 1; number <= slot_count; number++)); do
		{ exec {slot_lock}>>"$LAB_STATE/slot-$1-$number"; } 2>/dev/null ||
			return 1
		if flock -n "$slot_lock"; then
			slot=$LAB_STATE/ssh-$1-$number
			[ -S "$slot" ] || slot_open "$1"
			return
		fi
		exec {slot_lock}>&-
	done
	lab_error "$slot_count commands are running on node $1, and no more can" \
		"Wait until some have ended."
	return "$slot_none"
}

# slot_open NODE: open the connection. It ends when the node does. dropbear
# lets no more than five clients log in at a time: four gates, and the keeper.
slot_open()
{
	local gate rc=0

	{ exec {gate}>>"$LAB_STATE/gate-$1-$((RANDOM % 4))"; } 2>/dev/null ||
		return 1
	flock "$gate"
	(
		# It outlives us, and the caller may be waiting for the end of
		# a pipe.
		for fd in /proc/self/fd/*; do
			fd=${fd##*/}
			[ "$fd" -le 2 ] || [ "$fd" -eq 255 ] || exec {fd}<&-
		done
		exec ssh -F "$LAB_STATE/ssh" -S "$slot" -M -N -f "$1" \
			</dev/null >/dev/null 2>>"$LAB_STATE/ssh-$1"
	) || rc=$?
	exec {gate}>&-
	return "$rc"
}

# slot_ssh NODE COMMAND: run it through the slot that slot_take took.
slot_ssh()
{
	ssh -F "$LAB_STATE/ssh" -S "$slot" "$@"
}
