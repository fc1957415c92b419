#!/bin/bash
# setup_rxe.sh - a Soft-RoCE device (rxe) on a host whose kernel has it
#
# usage: sudo scripts/setup_rxe.sh [-i NETDEV] [-n NAME]      set up
#        scripts/setup_rxe.sh --check [-i NETDEV] [-n NAME]   can it work here?
#        scripts/setup_rxe.sh --status [-n NAME]              show what there is
#        sudo scripts/setup_rxe.sh --remove [-n NAME]         take it away
#        scripts/setup_rxe.sh --quiet-check                   for scripts
#
# Sets up Soft-RoCE: loads rdma_rxe and what it needs, makes an RDMA device on
# a network device and shows it. Doing it again changes nothing. It lasts until
# the next boot. Where the kernel has no rxe, scripts/lab.sh has it in a throwaway VM.
#
#   -i NETDEV  the network device; by default the one with the default route,
#              or else the first that is up and has an address
#   -n NAME    the name of the RDMA device; by default rxe0
#
#   --check    changes nothing, needs no root: names what is missing, with the
#              cause and the fix
#   --status   devices, GIDs, the address for -a, the limit on locked memory
#   --remove   takes the device away, unless a program has it open
#   --quiet-check   any RDMA device, not only Soft-RoCE: prints the address to
#              use if this user can use one now, else prints nothing
#
# Exit status of --check: 0 usable now, 1 can be set up, 2 cannot be had here.
# Otherwise: 0 done, 1 failed or nothing usable. 64: wrong usage.
set -uo pipefail
export LC_ALL=C

here=$(cd "${BASH_SOURCE[0]%/*}" && pwd) || exit 1
# shellcheck source=scripts/lib/machine.sh
. "$here/lib/machine.sh"

# shellcheck source=scripts/lib/rxe_device.sh
. "$here/lib/rxe_device.sh"

# How long the kernel may take to fill in the GIDs.
WAIT_SECONDS=10

row() {
	printf '%-9s %s\n' "$1" "$2"
}

# One device with all its ports. Fails unless a port can be used now.
show_status() {
	local port index gid type four usable=1

	find_parent "$1"
	row device "$1${kind:+ ($kind)}"
	if [[ -n $parent ]]; then
		netdev_addresses "$parent"
		row netdev "$parent, ${addresses:-no address}"
	fi
	for port in "$ib/$1"/ports/*; do
		port=${port##*/}
		row "port $port" "$(sed 's/.*: //' "$ib/$1/ports/$port/state")"
		while read -r index gid type; do
			four=$(ipv4_of "$gid")
			row "GID $index" "$gid, $type${four:+, $four}"
		done < <(gids "$1" "$port")
		device_trouble "$1" "$port"
		if [[ -n $cause ]]; then
			row address "none: $cause. Try: $fix"
		else
			row address "$address, to be given to -a"
			usable=0
		fi
	done
	memlock_enough
	row memlock "$memlock"
	return "$usable"
}

status() {
	local one usable=1 names

	names=$(devices | xargs)
	if [[ -z $names ]]; then
		fail 'there is no RDMA device' "scripts/$NAME --check"
	elif [[ -n $wanted_name && ! -d $ib/$wanted_name ]]; then
		fail "there is no RDMA device $wanted_name" "one of these: $names"
	else
		for one in ${wanted_name:-$names}; do
			show_status "$one" && usable=0
		done
		return "$usable"
	fi
}

quiet_check() {
	find_usable "$wanted_name" && memlock_enough && echo "$address"
}

# With -i, only a Soft-RoCE device on that netdev will do.
look_for_device() {
	device=''
	if [[ -n $netdev ]]; then
		find_rxe_on "$netdev" && [[ ${wanted_name:-$there} == "$there" ]] || return
		wanted_name=$there
	fi
	find_usable "$wanted_name"
}

# What it takes to make a device, as it is here; sets netdev.
pieces() {
	module_trouble rdma_rxe
	if [[ -n $level ]]; then
		tell "$level" module "$cause" "$fix"
	elif module_here rdma_rxe; then
		tell ok module "rdma_rxe is in the running kernel"
	else
		tell todo module "rdma_rxe is there, but not loaded"
	fi
	if have rdma; then
		tell ok 'rdma command' 'is there'
	else
		tell fix 'rdma command' 'there is none, and it makes the device' "$(how_to_install iproute2)"
	fi
	if compgen -G '/usr/lib*/libibverbs/librxe-rdmav*.so' >/dev/null ||
		compgen -G '/usr/lib/*/libibverbs/librxe-rdmav*.so' >/dev/null; then
		tell ok provider "librxe, through which programs use the device"
	else
		tell fix provider "librxe-rdmav*.so is absent, without which no program can use it" \
			"$(how_to_install ibverbs-providers)"
	fi
	if pick_netdev; then
		tell ok netdev "$netdev ($reason)"
	else
		tell fix netdev "$cause" "$fix"
	fi
}

preflight() {
	if look_for_device; then
		tell ok device "$device, address $address"
	elif [[ -n $device ]]; then
		tell fix device "$cause" "$fix"
	else
		tell todo device "there is no ${wanted_name:-RDMA device}${netdev:+ on $netdev} yet"
		pieces
	fi
	if memlock_enough; then
		tell ok memlock "$memlock"
	else
		tell fix memlock "$memlock: too little to register memory" \
			"put '$(id -un) - memlock 8192' into /etc/security/limits.conf, as root, and log in again"
	fi
	case $verdict in
	0) echo "rxe: usable now: $device, address $address" ;;
	1)
		if [[ -n $device ]]; then
			echo 'rxe: can be set up: do what "fix" says above'
		else
			echo "rxe: can be set up with sudo scripts/$NAME$([[ $by_hand == no ]] || echo ', after what "fix" says above')"
		fi
		;;
	2) echo "rxe: cannot be had here: use $lab" ;;
	esac
	return "$verdict"
}

set_up() {
	local said deadline module made=no name=${wanted_name:-rxe0}

	need_root || return
	pieces
	[[ $verdict -lt 2 && $by_hand == no ]] || {
		fail 'a device cannot be made yet' "what \"fix\" says above; or $lab"
		return
	}
	if find_rxe_on "$netdev"; then
		[[ ${wanted_name:-$there} == "$there" ]] || {
			fail "$netdev already has the Soft-RoCE device $there, and room for one" \
				"use $there, or: scripts/$NAME --remove -n $there"
			return
		}
		name=$there
	elif [[ -d $ib/$name ]]; then
		find_parent "$name"
		fail "there is a device $name already${parent:+, on $parent}" \
			"another name (-n), or: scripts/$NAME --remove -n $name"
		return
	fi
	for module in rdma_rxe ib_uverbs rdma_ucm; do
		load_module "$module" || return
	done
	if [[ -n $there ]]; then
		say "$name is already on $netdev"
	elif said=$(rdma link add "$name" type rxe netdev "$netdev" 2>&1); then
		say "made $name on $netdev"
		made=yes
	else
		fail "rdma link add: $said" "what the kernel says: sudo dmesg | grep -i rxe"
		return
	fi
	# The kernel fills in the GIDs from a work queue of its own.
	deadline=$((SECONDS + WAIT_SECONDS))
	until device_address "$name" 1 && [[ $(line "$ib/$name/ports/1/state") == *ACTIVE && -n $address ]]; do
		if ((SECONDS >= deadline)); then
			device_trouble "$name" 1
			[[ $made == no ]] || rdma link delete "$name"
			fail "$name did not come up: $cause" "$fix"
			return
		fi
		sleep 0.1
	done
	show_status "$name"
}

# Nothing there is fine: then it is gone already.
remove() {
	local users all name=${wanted_name:-rxe0}

	need_root || return
	all=$(devices | xargs)
	if [[ ! -d $ib/$name ]]; then
		say "there is no $name here: nothing to remove${all:+ (there is: $all)}"
		return
	fi
	find_parent "$name"
	users=$(rdma resource show ctx 2>/dev/null |
		sed -n "s/^dev $name .* pid \([0-9]*\) comm \([^ ]*\).*/\2 (pid \1)/p")
	if [[ -z $kind ]]; then
		fail "$name is neither a Soft-RoCE nor a siw device; this removes no other" "scripts/$NAME --status"
	elif [[ -n $users ]]; then
		fail "$name is in use by ${users//$'\n'/, }; deleting it now would hang" 'end these programs first'
	else
		rdma link delete "$name" && say "removed $name (its modules stay loaded)"
	fi
}

netdev='' wanted_name='' action=set_up arguments=$*
while (($#)); do
	case $1 in
	-i | -n)
		[[ -n ${2:-} ]] || bad_usage "$1 needs a name"
		[[ $2 =~ ^[A-Za-z0-9_.:@-]+$ ]] || bad_usage "'$2' cannot be a name"
		if [[ $1 == -i ]]; then netdev=$2; else wanted_name=$2; fi
		shift
		;;
	--check) action=preflight ;;
	--status) action=status ;;
	--remove) action=remove ;;
	--quiet-check) action=quiet_check ;;
	-h | --help)
		sed -n '4,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"
		exit 0
		;;
	*) bad_usage "unknown argument '$1'" ;;
	esac
	shift
done
"$action"
