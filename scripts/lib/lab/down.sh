# shellcheck shell=bash
# lab.sh status and down. Sourced by ../../lab.sh.

lab_status()
{
	local began seconds node number=0

	[ $# -eq 0 ] || misuse "status takes no argument"
	if ! lab_alive tell; then
		echo "lab '$LAB_NAME': not up"
		return 1
	fi
	lab_read
	if [ ! -e "$LAB_STATE/up" ]; then
		echo "lab '$LAB_NAME': starting or ending (keeper: process ${lab[keeper]:-unknown})"
		return 1
	fi
	began=${lab[started]}
	seconds=$((EPOCHSECONDS - began))
	printf "lab '%s': up for %d:%02d:%02d\n" "$LAB_NAME" $((seconds / 3600)) \
		$((seconds / 60 % 60)) $((seconds % 60))
	echo "engine: ${lab[accel]}"
	[ -z "${lab[time]:-}" ] ||
		echo "time: its own, which passes only while a command waits in it"
	echo "kernel: ${lab[kernel]} (${lab[image]})"
	echo "repository: $LAB_REPO"
	echo "state: $LAB_STATE (keeper: process ${lab[keeper]})"
	for node in a b c d; do
		number=$((number + 1))
		[ "$number" -gt "${lab[nodes]}" ] ||
			lab_node_status "$node" "192.0.2.$number" "2001:db8::$number"
	done
	[ -z "$(lab_dead)" ]
}

# lab_node_status NODE ADDRESS...
lab_node_status()
{
	local node=$1 state=up

	shift
	[ ! -e "$LAB_STATE/dead-$node" ] || state=died
	echo "node $node: $state, ${lab[device]:-rxe}0 on eth0: $*;" \
		"process ${lab[pid_$node]}${lab[port_$node]:+, ssh on 127.0.0.1:${lab[port_$node]}}"
}

lab_down()
{
	local waited=0 fd

	[ $# -eq 0 ] || misuse "down takes no argument"
	if ! lab_alive tell; then
		echo "lab '$LAB_NAME': not up" >&2
		return 0
	fi
	{ exec {fd}<"$LAB_STATE"; } 2>/dev/null || return 0
	while ! flock -n "$fd"; do
		lab_read
		case $waited in
		# A keeper that has just begun may not have written its number.
		0 | 10) [ -z "${lab[keeper]:-}" ] || kill -TERM "${lab[keeper]}" || true ;;
		100) [ -z "${lab[keeper]:-}" ] || kill -KILL "${lab[keeper]}" || true ;;
		150)
			lab_error "the lab '$LAB_NAME' does not end" \
				"Its keeper, process ${lab[keeper]:-unknown}, holds $LAB_STATE." \
				"Look for processes that cannot be killed: ps -ef | grep rdma-lab"
			return 1
			;;
		esac
		waited=$((waited + 1))
		sleep 0.1
	done
	# It removes its files itself, unless it had to be killed.
	if lab_same "$fd"; then
		rm -rf "$LAB_STATE"
	fi
	exec {fd}<&-
	echo "lab '$LAB_NAME': down" >&2
}
