# shellcheck shell=bash
# lab.sh reset. Sourced by ../../lab.sh.

# shellcheck source=scripts/lib/lab/clock.sh
. "$LAB_PARTS/clock.sh"

# reset_tell NODE COMMAND...: commands for qemu's monitor, in its protocol QMP.
reset_tell()
{
	printf '%s\n' "${@:2}" >"$LAB_STATE/monitor-$1.in"
}

# reset_boots NODE: how often it has been ready.
reset_boots()
{
	tr -d '\r' <"$LAB_STATE/console-$1" | grep -cx 'lab: ready' || true
}

# reset_hang_up NODE: the connections lead to a kernel that is no more, which
# ssh would not notice. Who waits at the end of one is told.
reset_hang_up()
{
	local slot

	for slot in "$LAB_STATE/ssh-$1-"*; do
		[ ! -S "$slot" ] ||
			ssh -F "$LAB_STATE/ssh" -S "$slot" -O exit "$1" 2>/dev/null ||
			true
	done
}

lab_reset()
{
	local node=${1:-} boots slot deadline

	case $node in
	[a-d]) ;;
	*) misuse "reset: which node, a or b?" ;;
	esac
	[ $# -eq 1 ] || misuse "reset takes one argument, the node"
	if ! exec_ready "$node"; then
		exec_why "$node"
		return "$exec_failed"
	fi
	[ ! -S "$LAB_STATE/socket-$node" ] ||
		exec "${lab_python[@]}" lab.client "$LAB_STATE/socket-$node" reset
	boots=$(reset_boots "$node")
	# A node that resets itself, after a panic, ends with its qemu. This one
	# is to go on.
	reset_tell "$node" '{"execute": "qmp_capabilities"}' \
		'{"execute": "set-action", "arguments": {"reboot": "reset"}}' \
		'{"execute": "system_reset"}'
	deadline=$((SECONDS + 240))
	until [ "$(reset_boots "$node")" -gt "$boots" ]; do
		if [ -e "$LAB_STATE/dead-$node" ] || [ "$SECONDS" -ge "$deadline" ]; then
			lab_error "node $node has not come back" \
				"End the lab with 'scripts/lab.sh down', then start it anew."
			return 1
		fi
		sleep 0.1
	done
	reset_tell "$node" \
		'{"execute": "set-action", "arguments": {"reboot": "shutdown"}}'
	reset_hang_up "$node"
	if ! node_clock "$node"; then
		exec_why "$node"
		return "$exec_failed"
	fi
}
