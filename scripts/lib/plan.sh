# plan.sh - what a run here would install, fetch and need; to be sourced
#
# Nothing here changes anything. For demo.sh --plan and doctor.sh.
# shellcheck shell=bash

plan_top=$(cd "${BASH_SOURCE[0]%/*}/../.." && pwd)

# plan_packages SET…: what of these sets of install_deps.sh is missing, in a line.
plan_packages() {
	"$plan_top/scripts/install_deps.sh" --size "$@"
}

# plan_lab engine|kernel: which one the lab would take, in a line.
plan_lab() {
	[[ -x /usr/bin/python3 ]] || {
		echo "not known yet: python3 is not installed"
		return
	}
	"$plan_top/scripts/lib/python.sh" lab.choose "$1"
}

# plan_memory NODES: what the lab takes of it, and whether that is there.
plan_memory() {
	local need=$((${LAB_MEMORY:-1024} * $1)) free

	free=$(awk '/^MemAvailable:/ { print int($2 / 1024) }' /proc/meminfo)
	echo "at most $need MB; $free MB are free here"
	[[ $free -ge $need ]]
}
