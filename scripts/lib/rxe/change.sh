# change.sh - make and remove a Soft-RoCE device
#
# Sourced by setup_rxe.sh after the other parts. The only one that changes
# anything, and the only one that needs root.
# shellcheck shell=bash disable=SC2154 # variables cross the files

# How long the kernel may take to fill in the GIDs, or to delete a device.
WAIT_SECONDS=${RXE_WAIT:-10}

need_root() {
	[[ $EUID == 0 ]] || fail "only root can do this" \
		"sudo scripts/setup_rxe.sh${arguments:+ $arguments}"
}

load_module() {
	local said

	module_loaded "$1" && return
	if said=$(modprobe "$1" 2>&1); then
		say "loaded $1"
		return
	fi
	module_builtin "$1" && return
	fail "cannot load $1: ${said:-modprobe gave no reason}" \
		"scripts/setup_rxe.sh --check"
}

has_crc32() {
	grep -qsx 'name *: crc32' "$RXE_ROOT/proc/crypto"
}

# rxe asks the kernel's crypto code for crc32, and where that is absent says
# only "No such file or directory". Kernels that compute it in rxe itself have
# no such module: then there is nothing to do.
load_crc32() {
	has_crc32 && return
	modprobe -q crc32_generic && say "loaded crc32_generic"
	modprobe -q crc32_pclmul
	return 0
}

load_modules() {
	local module

	module_trouble
	[[ -z $level ]] || {
		fail "$cause" "$fix; or $(lab_hint)"
		return
	}
	for module in "$driver_module" ib_uverbs rdma_ucm; do
		load_module "$module" || return
	done
	[[ $driver != rxe ]] || load_crc32
}

choose_netdev() {
	if [[ -z $netdev ]]; then
		pick_netdev || {
			fail "$cause" "$fix"
			return
		}
		say "netdev $netdev: $reason"
	fi
	netdev_trouble "$netdev"
	[[ -z $cause ]] || fail "$cause" "$fix"
}

# Whether the device is there already; fails if something is in its way.
look_around() {
	if find_rxe_on "$netdev"; then
		if [[ -z $wanted_name || $wanted_name == "$there" ]]; then
			name=$there
			return
		fi
		fail "$netdev already has the $driver_kind device $there, and room for one" \
			"use $there, or: scripts/setup_rxe.sh --remove -n $there"
		return
	fi
	if [[ -d $ib/$name ]]; then
		find_parent "$name"
		fail "there is a device $name already${parent:+, on $parent}" \
			"another name (-n), or: scripts/setup_rxe.sh --remove -n $name"
	fi
}

add_device() {
	local said

	if find_rxe_on "$netdev"; then
		say "$name is already on $netdev"
		return
	fi
	if said=$(rdma link add "$name" type "$driver" netdev "$netdev" 2>&1); then
		say "made $name on $netdev"
		made=yes
		return
	fi
	if [[ $driver == rxe ]] && ! has_crc32; then
		fail "rdma link add: $said: the kernel has no crc32, which rxe needs" \
			"sudo modprobe crc32_generic"
		return
	fi
	fail "rdma link add: $said" \
		"what the kernel says: sudo dmesg | grep -i $driver"
}

# The kernel fills in the GIDs from a work queue of its own.
wait_until_up() {
	local deadline=$((SECONDS + WAIT_SECONDS))

	while :; do
		port_state "$name" 1
		device_address "$name" 1
		[[ $state == ACTIVE && -n $address ]] && return
		((SECONDS < deadline)) || return
		sleep 0.1
	done
}

set_up() {
	need_root || return
	choose_netdev || return
	name=${wanted_name:-${driver}0}
	look_around || return
	if ! have rdma; then
		fail "there is no rdma command here, and it makes the device" \
			"$(how_to_install iproute2 iproute)"
		return
	fi
	load_modules || return
	made=no
	add_device || return
	if ! wait_until_up; then
		device_trouble "$name" 1
		[[ $made == no ]] || delete_device "$name"
		fail "$name did not come up: $cause" "$fix"
		return
	fi
	show_status "$name"
}

# Prints who has the device open, "NAME (pid N)" a line.
device_users() {
	rdma resource show ctx 2>/dev/null |
		sed -n "s/^dev $1 .* pid \([0-9]*\) comm \([^ ]*\).*/\2 (pid \1)/p"
}

# A delete that hangs cannot be killed, so do not wait for it for ever.
delete_device() {
	local deadline=$((SECONDS + WAIT_SECONDS)) pid

	rdma link delete "$1" &
	pid=$!
	while [[ -d $ib/$1 ]] && kill -0 "$pid" 2>/dev/null; do
		if ((SECONDS >= deadline)); then
			fail "rdma link delete $1 hangs: something opened it meanwhile" \
				"end the programs that use $1; the delete then goes on"
			return
		fi
		sleep 0.05
	done
	wait "$pid" || fail "rdma link delete $1 failed" "see the reason above"
}

# Which device --remove means: the one named, the one on the netdev named, or
# the only one. Nothing is fine: then it is gone already.
choose_device() {
	local all=() one

	name=$wanted_name
	[[ -z $name ]] || return 0
	find_devices
	for one in "${names[@]}"; do
		find_parent "$one"
		[[ -n $parent && ${netdev:-$parent} == "$parent" ]] &&
			all+=("$one")
	done
	((${#all[@]} < 2)) || {
		fail "there are several: ${all[*]}" "say which with -n"
		return
	}
	name=${all[0]:-}
}

remove() {
	local users

	need_root || return
	choose_device || return
	if [[ -z $name || ! -d $ib/$name ]]; then
		say "no ${name:-Soft-RoCE device} here: nothing to remove"
		return
	fi
	find_parent "$name"
	if [[ -z $parent ]]; then
		fail "$name is neither a Soft-RoCE nor a siw device; this removes no other" \
			"scripts/setup_rxe.sh --status"
		return
	fi
	users=$(device_users "$name")
	if [[ -n $users ]]; then
		fail "$name is in use by ${users//$'\n'/, }; deleting it now would hang" \
			"end these programs first"
		return
	fi
	delete_device "$name" || return
	say "removed $name (its modules stay loaded)"
}
