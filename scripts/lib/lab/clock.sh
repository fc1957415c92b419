# shellcheck shell=bash
# A node's clock. Sourced by keeper.sh and reset.sh, with slot.sh.

# node_clock NODE: the emulated clock chip knows whole seconds only, and a
# certificate made just now must be valid in the guest. So the time is sent
# when the guest is waiting for it, until it has been set in a fifth of a
# second, or ten times.
node_clock()
{
	local line sent tries

	slot_take "$1" || return 1
	# shellcheck disable=SC2016 # the guest expands it
	coproc CLOCK {
		slot_ssh "$1" 'echo go
			while read -r time; do date -s "@$time" && echo go; done' \
			2>>"$LAB_STATE/ssh-$1"
	}
	for ((tries = 0; tries <= 10; tries++)); do
		while read -r -t 60 -u "${CLOCK[0]}" line; do
			[ "$line" != go ] || break
		done
		[ "$line" = go ] || return 1
		[ "$tries" -eq 0 ] ||
			[ $((${EPOCHREALTIME/[.,]/} - ${sent/[.,]/})) -gt 200000 ] || break
		sent=$EPOCHREALTIME
		echo "${sent/,/.}" >&"${CLOCK[1]}"
	done
}
