#!/bin/bash
# setup_rxe.sh - a Soft-RoCE device (rxe) on a host whose kernel has it; or siw
#
# Makes, shows, checks and removes the device; `setup_rxe.sh -h` says how.
# Where the kernel has no rxe, scripts/lab.sh has it in a throwaway VM.
set -uo pipefail
export LC_ALL=C
# Where an ordinary user's PATH may not lead: modprobe.
PATH=$PATH:/usr/sbin:/sbin

NAME=${0##*/}
parts=$(cd "${BASH_SOURCE[0]%/*}" && pwd)/lib/rxe || exit 1
# shellcheck source=scripts/lib/rxe/tell.sh
. "$parts/tell.sh"
# shellcheck source=scripts/lib/rxe/facts.sh
. "$parts/facts.sh"
# shellcheck source=scripts/lib/rxe/host.sh
. "$parts/host.sh"
# shellcheck source=scripts/lib/rxe/device.sh
. "$parts/device.sh"
# shellcheck source=scripts/lib/rxe/change.sh
. "$parts/change.sh"
# shellcheck source=scripts/lib/rxe/check.sh
. "$parts/check.sh"

usage() {
	cat <<EOF
usage: sudo scripts/$NAME [-i NETDEV] [-n NAME] [--driver siw]   set up
       scripts/$NAME --check [-i NETDEV] [-n NAME]   can it work here?
       scripts/$NAME --status [-n NAME]              show what there is
       sudo scripts/$NAME --remove [-i NETDEV] [-n NAME]
       scripts/$NAME --quiet-check                   for scripts

Sets up Soft-RoCE: loads rdma_rxe and what it needs, makes an RDMA device on
a network device and shows it. Doing it again changes nothing. It lasts until
the next boot.

  -i NETDEV  the network device; by default the one with the default route,
             or else the first that is up and has an address
  -n NAME    the name of the RDMA device; by default rxe0, or siw0
  --driver siw   not Soft-RoCE but iWARP in software: RDMA over TCP, which
             chapters 01, 02 and 07 run on

  --check    changes nothing, needs no root: names what is missing, with the
             cause and the fix
  --status   devices, GIDs, the address for -a, the limit on locked memory
  --remove   takes the device away, unless a program has it open
  --quiet-check   any RDMA device, not only Soft-RoCE: prints the address to
             use if this user can use one now, else prints nothing

Exit status of --check: 0 usable now, 1 can be set up, 2 cannot be had here.
Otherwise: 0 done, 1 failed or nothing usable. 64: wrong usage.

Environment, for tests: RXE_ROOT=DIR reads the files of /proc, /sys, /etc,
/lib, /usr, /dev and /boot below DIR; RXE_WAIT=10, in seconds, is how long the
kernel may take.
EOF
}

row() {
	printf '%-9s %s\n' "$1" "$2"
}

# One device with all its ports. Fails unless a port can be used now.
show_status() {
	local name=$1 dir i usable=1

	find_parent "$name"
	row device "$name${parent:+ ($kind)}"
	if [[ -n $parent ]]; then
		netdev_addresses "$parent"
		row netdev "$parent, ${addresses:-no address}"
	fi
	for dir in "$ib/$name"/ports/*; do
		device_trouble "$name" "${dir##*/}"
		row "port ${dir##*/}" "$state"
		show_gids "$name" "${dir##*/}"
		if [[ -n $cause ]]; then
			row address "none: $cause. Try: $fix"
		else
			row address "$usable_address, to be given to -a"
			usable=0
		fi
	done
	memlock_facts
	i=$(memlock_text)
	[[ $memlock_exempt == no ]] || i+=', and is exempt from the limit'
	row memlock "$i"
	return "$usable"
}

show_gids() {
	local i

	usable_address=$address
	find_gids "$1" "$2"
	for i in "${!gid[@]}"; do
		gid_address "${gid[i]}"
		row "GID ${gid_index[i]}" \
			"${gid[i]}, ${gid_type[i]}, ${gid_netdev[i]}, $address"
	done
}

status() {
	local one usable=1

	find_devices
	if ((${#names[@]} == 0)); then
		fail "there is no RDMA device" "scripts/$NAME --check"
		return
	fi
	if [[ -n $wanted_name && ! -d $ib/$wanted_name ]]; then
		fail "there is no RDMA device $wanted_name" \
			"one of these: ${names[*]}"
		return
	fi
	[[ -z $wanted_name ]] || names=("$wanted_name")
	for one in "${names[@]}"; do
		show_status "$one" && usable=0
	done
	return "$usable"
}

quiet_check() {
	find_usable "$wanted_name" && memlock_enough && echo "$address"
}

driver=rxe netdev='' wanted_name='' action=set_up arguments=$*
while (($#)); do
	case $1 in
	-i | -n)
		[[ -n ${2:-} ]] || bad_usage "$1 needs a name"
		[[ $2 =~ ^[A-Za-z0-9_.:@-]+$ ]] || bad_usage "'$2' cannot be a name"
		if [[ $1 == -i ]]; then netdev=$2; else wanted_name=$2; fi
		shift
		;;
	--driver)
		[[ ${2:-} == @(rxe|siw) ]] || bad_usage "--driver is rxe or siw"
		driver=$2
		shift
		;;
	--check) action=preflight ;;
	--status) action=status ;;
	--remove) action=remove ;;
	--quiet-check) action=quiet_check ;;
	-h | --help)
		usage
		exit 0
		;;
	*) bad_usage "unknown argument '$1'" ;;
	esac
	shift
done
case $driver in
rxe) driver_module=rdma_rxe driver_kind=Soft-RoCE ;;
siw) driver_module=siw driver_kind=siw wanted_name=${wanted_name:-siw0} ;;
esac
"$action"
