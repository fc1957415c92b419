# check.sh - the preflight of setup_rxe.sh: one line for each thing that a
# Soft-RoCE device needs, with the cause and the fix where it is missing
#
# Sourced by setup_rxe.sh after the other parts. Needs no root and changes
# nothing.
# shellcheck shell=bash disable=SC2154 # variables cross the files

# Where docs/troubleshooting.md tells more of a topic.
declare -A entry=(
	[device]=no-device [module]=module ['secure boot']=module
	[provider]=provider [memlock]=memlock [firewall]=firewall
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
	secure_boot_trouble
	[[ -z $level ]] || tell "$level" 'secure boot' "$cause" "$fix"
}

check_command() {
	if ! have rdma; then
		tell fix 'rdma command' "there is none, and it makes the device" \
			"$(how_to_install iproute2 iproute)"
	elif ! rdma_can_add; then
		tell fix 'rdma command' \
			"$(rdma -V 2>/dev/null) is too old: it has no 'rdma link add'" \
			"install iproute2 5.1 or newer"
	else
		tell ok 'rdma command' "it has 'rdma link add'"
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

# Reads the rules of nft or iptables: prints drops (a rule drops UDP 4791), may
# (what no rule allows is dropped, and none allows 4791) or nothing. In a chain the
# first rule that fits decides; what is accepted in one that others jump to, counts
# for all, as this does not follow jumps.
firewall_says() {
	awk '
		function is_rdma() {
			return /dport.*[^0-9]4791([^0-9]|$)/ && !/tcp/ &&
				!/dport !=|! --dport/
		}
		function rule(chain, hook, accepts, drops, all) {
			if (is_rdma() && accepts) {
				if (hook == "none")
					allowed = 1
				else if (hook == "input" && !(chain in closed_by_rule))
					open[chain] = 1
			} else if (is_rdma() && drops) {
				if (hook != "forward" && !(chain in open))
					dropped = 1
			} else if (all && hook == "input") {
				closed[chain] = closed_by_rule[chain] = 1
			}
		}
		BEGIN { hook = "none" }
		/^\tchain / { chain++; hook = "none" }
		/^\t\ttype .* hook / {
			hook = $0
			sub(/.* hook /, "", hook)
			sub(/ .*/, "", hook)
			if (hook == "input" && /policy drop/)
				closed[chain] = 1
			next
		}
		/^\t\t/ {
			rule(chain, hook, / accept/, / (drop|reject)/,
				/^\t\t(counter [^;]*)?(drop|reject)/)
		}
		/^-P INPUT DROP/ { closed["INPUT"] = 1 }
		/^-A / {
			at = tolower($2)
			if (at !~ /^(input|output|forward)$/)
				at = "none"
			rule($2, at, /-j ACCEPT/, /-j (DROP|REJECT)/,
				/^-A [^ ]* -j (DROP|REJECT)/)
		}
		END {
			if (dropped) {
				print "drops"
				exit
			}
			for (one in closed)
				if (!(one in open) && !allowed) {
					print "may"
					exit
				}
		}'
}

# Sets rules to what nft and the older iptables have, each as far as the kernel
# has it; or fails, with rules saying why they are not known.
firewall_rules() {
	local module command=()

	rules=''
	for module in nf_tables ip_tables; do
		module_here "$module" || continue
		command=(nft list ruleset)
		[[ $module == nf_tables ]] || command=(iptables -S)
		if ! have "${command[0]}"; then
			rules="there is no ${command[0]} command to ask"
			return 1
		fi
		rules+=$("${command[@]}" 2>/dev/null)$'\n' || {
			rules='only root can read its rules'
			return 1
		}
	done
}

# Two ends on this host do not pass through it, so this is never more than a
# note: it matters when the other end is another host.
check_firewall() {
	local rules allow

	# siw is TCP at the program's own port.
	[[ $driver == rxe ]] || return 0
	if ! firewall_rules; then
		tell note firewall "not looked at: $rules"
		return
	fi
	if [[ -z $rules ]]; then
		tell ok firewall "the kernel has no packet filter loaded"
		return
	fi
	allow="sudo nft insert rule TABLE CHAIN udp dport 4791 accept"
	[[ $rules != *'-P INPUT'* ]] ||
		allow="sudo iptables -I INPUT -p udp --dport 4791 -j ACCEPT"
	case $(firewall_says <<<"$rules") in
	drops) tell note firewall \
		"a rule drops UDP 4791, RoCE's port: other hosts cannot be reached" \
		"remove that rule" ;;
	may) tell note firewall \
		"it drops what no rule allows, and none names UDP 4791, RoCE's port" \
		"for other hosts: $allow" ;;
	*) tell ok firewall "no rule against UDP 4791" ;;
	esac
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
	check_firewall
	conclude
}
