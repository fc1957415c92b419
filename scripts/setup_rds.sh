#!/bin/bash
# setup_rds.sh - the kernel's RDS: what chapter 06 needs, loaded on purpose
#
# usage: sudo scripts/setup_rds.sh [tcp] [ib]     load RDS with these transports
#        scripts/setup_rds.sh --check [tcp] [ib]  can this machine have it?
#        scripts/setup_rds.sh --status            show what there is
#        scripts/setup_rds.sh --reconnects        does ib come back after a break?
#        sudo scripts/setup_rds.sh --remove       unload all of it
#
# Loads the kernel's modules for reliable datagram sockets: rds, and for the
# transport tcp rds_tcp, for ib rds_rdma. By default both. Doing it again changes
# nothing. It lasts until the next boot.
#
# RDS has had serious holes that any user of the machine could use, and it has
# neither authentication nor encryption. So no distribution loads it by itself,
# and some forbid it. Load it only where an attack would do no harm: in the lab
# (scripts/lab.sh up), or on a machine and a network of your own.
#
#   --check    changes nothing, needs no root: names what is missing or in the
#              way, with the cause and the fix
#   --status   modules, transports, and the addresses to bind to
#   --reconnects
#              whether this kernel reconnects over ib when an RDMA request has
#              broken the connection; with the rxe of some kernels it does not
#   --remove   unloads the modules, unless a socket or a connection uses them
#
# Exit status of --check: 0 usable now, 1 can be set up, 2 cannot be had here; of
# --reconnects: 0 as far as is known, 3 no.
# Otherwise: 0 done, 1 failed or nothing usable. 64: wrong usage.
# Nothing else in this repository loads them.
set -uo pipefail
export LC_ALL=C

here=$(cd "${BASH_SOURCE[0]%/*}" && pwd) || exit 1
# shellcheck source=scripts/lib/machine.sh
. "$here/lib/machine.sh"
declare -A module_of=([tcp]=rds_tcp [ib]=rds_rdma)

# The line of modprobe's configuration, with its file, that keeps it from loading a module
# even by name. To modprobe, rds-tcp is the same name as rds_tcp.
rule_against() {
	grep -HsE "^[[:space:]]*install[[:space:]]+${1//_/[-_]}([[:space:]]|\$)" \
		/{etc,run,usr/local/lib,usr/lib,lib}/modprobe.d/*.conf | head -n 1
}

check_module() {
	local rule

	module_trouble "$1"
	rule=$(rule_against "$1")
	if module_here "$1"; then
		tell ok "$1" "is in the running kernel"
	elif [[ -n $level ]]; then
		tell "$level" "$1" "$cause" "$fix, or use $lab"
	elif [[ -n $rule ]]; then
		tell fix "$1" "modprobe may not load it: $rule" \
			"find out who wrote that and why, before you take it out"
	else
		tell todo "$1" "is there, but not loaded"
	fi
}

check_device() {
	if compgen -G '/sys/class/infiniband/*' >/dev/null; then
		tell ok device "there is an RDMA device for ib"
	else
		tell fix device "there is no RDMA device, and ib needs one" \
			"sudo scripts/setup_rxe.sh"
	fi
}

check_all() {
	local transport

	check_module rds
	for transport in "${transports[@]}"; do
		check_module "${module_of[$transport]}"
		[[ $transport != ib ]] || check_device
	done
}

preflight() {
	check_all
	case $verdict in
	0) echo "usable now: scripts/$NAME --status" ;;
	1) echo "can be set up: sudo scripts/$NAME ${transports[*]}" ;;
	2) echo "cannot be had on this kernel; in the lab it can: $lab" ;;
	esac
	return "$verdict"
}

load() {
	local transport

	check_all
	((verdict)) || return 0
	[[ $verdict == 1 && $by_hand == no ]] || {
		fail "RDS with ${transports[*]} cannot be had yet" 'what "fix" says above'
		return
	}
	need_root && load_module rds || return
	for transport in "${transports[@]}"; do
		load_module "${module_of[$transport]}" || return
	done
}

status() {
	if ! module_here rds; then
		fail "the kernel has no RDS loaded" "scripts/$NAME --check"
		return
	fi
	ip -o -4 addr show scope global |
		awk '{ sub("/.*", "", $4); print "address    " $4 " on " $2 }'
	if module_here rds_tcp; then
		echo "tcp        each of these; the kernel listens on TCP port 16385"
	else
		echo 'tcp        not loaded (rds_tcp)'
	fi
	if module_here rds_rdma; then
		echo 'ib         those of an RDMA device:'
		rdma link | sed 's/^/           /'
	else
		echo 'ib         not loaded (rds_rdma)'
	fi
}

# Seen with 6.12.107, mended in 6.12.111: see docs/rds.md.
reconnects() {
	[[ $release =~ ^6\.12\.([0-9]+) ]] || return 0
	((BASH_REMATCH[1] < 111)) || return 0
	say "with Linux $release, what breaks a connection over ib on rxe breaks it" \
		"until the next boot; 6.12.111 and later are mended"
	return 3
}

remove() {
	local module said

	need_root || return
	for module in rds_rdma rds_tcp rds; do
		[[ -d /sys/module/$module ]] || continue
		if ! said=$(modprobe -r "$module" 2>&1); then
			fail "cannot remove $module: ${said##*FATAL: }" \
				"end the programs that use RDS; what a connection still holds goes with the next boot"
			return
		fi
		say "removed $module"
	done
	say "no RDS in this kernel"
}

action=load arguments=$* transports=()
while (($#)); do
	case $1 in
	tcp | ib) transports+=("$1") ;;
	--check) action=preflight ;;
	--status) action=status ;;
	--reconnects) action=reconnects ;;
	--remove) action=remove ;;
	-h | --help)
		sed -n '4,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"
		exit 0
		;;
	*) bad_usage "unknown argument '$1'" ;;
	esac
	shift
done
((${#transports[@]})) || transports=(tcp ib)
"$action"
