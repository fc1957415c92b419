# check.sh - the preflight of setup_rxe.sh: one line for each thing that a
# Soft-RoCE device needs, with the cause and the fix where it is missing
#
# Sourced by setup_rxe.sh after the other parts. Needs no root and changes
# nothing.
# shellcheck shell=bash disable=SC2154 # variables cross the files

# Where docs/troubleshooting.md tells more of a topic.
declare -A entry=(
	[device]=no-device [module]=module [provider]=provider [memlock]=memlock
)

check_module() {
	module_trouble
	if [[ -n $level ]]; then
		tell "$level" module "$cause" "$fix"
		return
	fi
	if module_here "$driver_module"; then
		tell ok module "$driver_module is in the running kernel"
	else
		tell todo module "$driver_module is there, but not loaded"
	fi
}

check_command() {
	if ! have rdma; then
		tell fix 'rdma command' "there is none, and it makes the device" \
			"$(how_to_install iproute2 iproute)"
	else
		tell ok 'rdma command' 'is there'
	fi
}

check_provider() {
	if provider_library "$driver" >/dev/null; then
		tell ok provider "lib$driver, through which programs use the device"
	else
		tell fix provider \
			"lib$driver-rdmav*.so is absent, without which no program can use it" \
			"$(how_to_install ibverbs-providers libibverbs)"
	fi
}

check_netdev() {
	if ! ip -V >/dev/null 2>&1; then
		tell fix netdev "there is no ip command to ask for one" \
			"$(how_to_install iproute2 iproute)"
		return
	fi
	if [[ -n $netdev ]]; then
		netdev_trouble "$netdev"
		reason="chosen with -i"
	elif ! pick_netdev; then
		tell fix netdev "$cause" "$fix"
		return
	else
		netdev_trouble "$netdev"
	fi
	if [[ -n $cause ]]; then
		tell fix netdev "$cause" "$fix"
	else
		tell ok netdev "$netdev ($reason)"
	fi
}

check_memlock() {
	if memlock_enough; then
		if [[ $memlock_exempt == yes ]]; then
			tell ok memlock "user $(id -un "$memlock_uid") is exempt from the limit"
		elif memlock_within "$MEMLOCK_GOOD_KB" "$memlock_soft"; then
			tell ok memlock "$(memlock_text)"
		else
			tell note memlock "$(memlock_text): enough for a few clients" \
				"$(memlock_fix)"
		fi
	else
		tell fix memlock \
			"$(memlock_text): too little to register memory" "$(memlock_fix)"
	fi
}

# The one line at the end.
conclude() {
	local set_up=scripts/setup_rxe.sh

	[[ $driver == rxe ]] || set_up+=" --driver $driver"
	case $verdict in
	0) echo "$driver: usable now: $device, address $address" ;;
	1)
		if [[ -n $device ]]; then
			echo "$driver: can be set up: do what \"fix\" says above"
		elif [[ $by_hand == yes ]]; then
			echo "$driver: can be set up with sudo" \
				"$set_up, after what \"fix\" says above"
		else
			echo "$driver: can be set up with sudo $set_up"
		fi
		;;
	2) echo "$driver: cannot be had here: use $(lab_hint)" ;;
	esac
	return "$verdict"
}

# With -i, only a Soft-RoCE device on that netdev will do.
look_for_device() {
	if [[ -n $netdev ]]; then
		device=''
		find_rxe_on "$netdev" || return
		[[ ${wanted_name:-$there} == "$there" ]] || return
		wanted_name=$there
	fi
	find_usable "$wanted_name"
}

preflight() {
	if look_for_device; then
		tell ok device "$device, address $address"
	elif [[ -n $device ]]; then
		tell fix device "$cause" "$fix"
	else
		tell todo device \
			"there is no ${wanted_name:-RDMA device}${netdev:+ on $netdev} yet"
		check_module
		check_command
		check_provider
		check_netdev
	fi
	check_memlock
	conclude
}
