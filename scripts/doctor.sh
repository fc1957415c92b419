#!/usr/bin/env bash
# doctor.sh - what this machine has, what it lacks, and what to do about it
#
# usage: scripts/doctor.sh                 (make doctor)
#
# Looks at the packages, at this machine's own RDMA or Soft-RoCE, at the lab and what
# it needs; changes nothing and needs no root. The last lines say what to type next.
#
# Exit status: 0 the chapters can be run here now, 1 something is missing first,
# 2 usage.
set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top"
# shellcheck source=scripts/lib/cli.sh
source scripts/lib/cli.sh
# shellcheck source=scripts/lib/plan.sh
source scripts/lib/plan.sh

cli_help "$@"
[[ $# -eq 0 ]] || cli_misuse "there is no argument $1"

row() {
	printf '%-10s %s\n' "$1" "$2"
}

# fix TEXT: of the row before.
fix() {
	printf '%-10s fix: %s\n' '' "$1"
}

machine() {
	local os='an unknown system'

	# shellcheck source=/dev/null
	[[ ! -r /etc/os-release ]] ||
		os=$(. /etc/os-release && echo "${PRETTY_NAME:-$ID}")
	row machine "$os, Linux $(uname -r), $(uname -m), $(nproc) processors"
}

# Sets builds, lab_packages: yes or no.
packages() {
	local set said

	builds=yes lab_packages=yes
	for set in build lab wire check; do
		said=$(plan_packages "$set")
		row "$set" "$said"
		[[ $said == all* ]] && continue
		fix "scripts/install_deps.sh $set (NO_INSTALL=1 lists them)"
		case $set in
		build) builds=no ;;
		lab) lab_packages=no ;;
		esac
	done
}

# Sets device: yes or no.
device() {
	local said status=0

	echo
	echo "This machine's own RDMA (scripts/setup_rxe.sh --check):"
	said=$(scripts/setup_rxe.sh --check) || status=$?
	echo "  ${said//$'\n'/$'\n'  }"
	device=no device_here=$status
	[[ $status -ne 0 ]] || device=yes
}

# Sets use_lab: yes, no or up.
lab() {
	local said

	echo
	echo "The lab, throwaway machines with Soft-RoCE:"
	use_lab=$lab_packages
	if said=$(scripts/lab.sh status 2>&1); then
		use_lab=up
	fi
	row '  state' "$(head -n 1 <<<"$said")"
	said=$(plan_lab kernel) || use_lab=no
	row '  kernel' "$said"
	if ! said=$(plan_memory 1); then
		use_lab=no
	fi
	row '  memory' "$said"
	said=$(plan_lab engine)
	row '  engine' "$said"
	[[ $said != tcg*lab-kernel* ]] || fix 'make lab-kernel'
	[[ $lab_packages == yes ]] || fix 'install the packages of lab, above'
}

conclude() {
	echo
	if [[ $builds == no ]]; then
		echo "doctor: first: scripts/install_deps.sh build lab"
		return 1
	elif [[ $device == yes ]]; then
		echo "doctor: ready, on this machine's own device: make demo"
	elif [[ $use_lab == up ]]; then
		echo "doctor: ready, in the lab, which is up: make shell"
	elif [[ $device_here -eq 1 ]]; then
		echo "doctor: this machine can have its own device: sudo scripts/setup_rxe.sh"
		[[ $use_lab == no ]] || echo "doctor: or use the lab: make lab, make shell"
		[[ $use_lab != no ]]
	elif [[ $use_lab == yes ]]; then
		echo "doctor: ready, in the lab: make demo; or make lab, make shell"
	else
		echo "doctor: neither a device nor the lab yet: do what is said above"
		return 1
	fi
}

machine
packages
device
lab
conclude
