# device.sh - where a real RDMA device is: on this host, or in the lab
#
# To be sourced by bash. The programs never know which of the two it is:
#
#   device_open [NODES]    find or make a device (default: one node)
#   device_run NODE CMD…   run a command on node a or b, exit status passed on;
#                          $DEVICE_LIMIT, if set, is how many seconds it may take
#   device_address NODE    the address to give to -a
#   device_kernel          the release of the kernel that has the device
#   device_close           undo what device_open made
#   device_nodes FILE…     how many nodes the most demanding of some `commands`
#                          files needs (see pair.sh)
#   device_send DIR…       these folders are where programs can run in them
#   device_path DIR        where that is
#
# DEVICE=host or DEVICE=lab decides it by hand. A lab that is already up is
# used and left up; otherwise one is booted and taken down again. HOSTS=user@a,user@b
# takes two real hosts instead (hosts.sh).
# shellcheck shell=bash

device_top=$(cd "${BASH_SOURCE[0]%/*}/../.." && pwd)
device_where=
device_ours=no
# What the lab said of itself when it was opened.
device_lab=
# shellcheck source=scripts/lib/hosts.sh
[[ -z ${HOSTS:-} ]] || source "$device_top/scripts/lib/hosts.sh"

# Whether this host has a device that NODES ends can use; two need two hosts.
device_on_host() {
	[[ ${DEVICE:-host} == host ]] || return 1
	if [[ $1 -gt 1 ]]; then
		[[ ${DEVICE:-} != host ]] && return 1
		echo "device: DEVICE=host has one node, and $1 are needed;" \
			"leave DEVICE unset" >&2
		return 1
	fi
	device_host_address=$("$device_top/scripts/setup_rxe.sh" --quiet-check)
}

device_lab_status() {
	device_lab=$("$device_top/scripts/lab.sh" status 2>/dev/null)
}

# device_lab_is_asked_for NODES: whether the lab that is up is, as far as its status says.
# Else, `up` says what is missing.
device_lab_is_asked_for() {
	local names=abcd

	[[ $device_lab == *"node ${names:$1-1:1}: up, ${LAB_DEVICE:-}"* &&
		$device_lab == *"engine: ${LAB_ENGINE:-}"* ]]
}

device_open() {
	local nodes=${1:-1}

	if [[ ${HOSTS:-} ]]; then
		device_where=hosts
		[[ ! ${HOSTS_STATE:-} ]] || return 0
		device_ours=yes
		hosts_open
		return
	fi
	if device_on_host "$nodes"; then
		device_where=host
		return 0
	fi
	if [[ ${DEVICE:-} == host ]]; then
		echo "device: DEVICE=host, but this host has no usable RDMA" \
			"device; see scripts/setup_rxe.sh --check" >&2
		return 1
	fi
	device_where=lab
	device_lab_status || device_ours=yes
	[[ $device_ours == no ]] && device_lab_is_asked_for "$nodes" && return
	"$device_top/scripts/lab.sh" up --nodes "$nodes" && device_lab_status
}

device_run() {
	local node=$1

	shift
	if [[ $device_where == host ]]; then
		"$@"
	elif [[ $device_where == hosts ]]; then
		hosts_run "$node" "$@"
	elif [[ ${DEVICE_LIMIT:-} ]]; then
		# A loop that waits for nothing takes none of a node's own time.
		timeout --foreground -s KILL "$DEVICE_LIMIT" \
			"$device_top/scripts/lab.sh" exec "$node" -- "$@"
	else
		"$device_top/scripts/lab.sh" exec "$node" -- "$@"
	fi
}

device_address() {
	if [[ $device_where == host ]]; then
		echo "$device_host_address"
	elif [[ $device_where == hosts ]]; then
		hosts_address "$1"
	elif [[ $1 == a ]]; then
		echo 192.0.2.1
	else
		echo 192.0.2.2
	fi
}

device_kernel() {
	if [[ $device_where == host ]]; then
		uname -r
	elif [[ $device_where == hosts ]]; then
		hosts_kernel
	else
		[[ $device_lab ]] || device_lab_status
		[[ $device_lab =~ kernel:\ ([^ ]*) ]]
		echo "${BASH_REMATCH[1]}"
	fi
}

device_close() {
	if [[ $device_ours == yes ]]; then
		device_ours=no
		if [[ $device_where == hosts ]]; then
			hosts_close
		else
			"$device_top/scripts/lab.sh" down
		fi
	fi
}

device_nodes() {
	local nodes

	nodes=$(sed -n 's/^nodes: *//p' "$@" | sort -n | tail -n 1)
	echo "${nodes:-1}"
}

# On this host and in the lab they are there.
device_send() {
	[[ $device_where != hosts ]] || hosts_send "$@"
}

device_path() {
	if [[ $device_where == hosts ]]; then
		hosts_path "$1"
	else
		echo "$1"
	fi
}
