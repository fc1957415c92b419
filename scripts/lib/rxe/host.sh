# host.sh - netdevs and the limit on locked memory
#
# Sourced by setup_rxe.sh after facts.sh. No function here changes anything.
# shellcheck shell=bash disable=SC2034,SC2154 # variables cross the files

# Registered memory is pinned, and the kernel counts it against the limit on
# locked memory. Below the first a single conversation does not fit, below the
# second (the kernel's own default since 5.16) many of them at once do not.
MEMLOCK_NEED_KB=64
MEMLOCK_GOOD_KB=8192

# Sets addresses to those of a netdev, separated by spaces; link-local ones,
# which need a scope, do not count.
netdev_addresses() {
	local address rest

	addresses=''
	while read -r _ _ _ address rest; do
		[[ -z $address ]] || addresses+=${addresses:+ }${address%%/*}
	done <<<"$(ip -o addr show dev "$1" scope global 2>/dev/null)"
}

# Why a netdev cannot carry the device: sets cause and fix, or empties them.
netdev_trouble() {
	local flags type

	cause='' fix=''
	if [[ ! -d $RXE_ROOT/sys/class/net/$1 ]]; then
		cause="there is no netdev $1"
		fix="-i NETDEV, one of those that 'ip link' shows"
		return
	fi
	read_line "/sys/class/net/$1/flags"
	flags=$line
	read_line "/sys/class/net/$1/type"
	type=$line
	read_line "/sys/class/net/$1/carrier"
	# Type 1: Ethernet. Bit 0 of the flags: up.
	if [[ $type != 1 ]]; then
		cause="$1 is not an Ethernet device, and $driver needs one"
		fix="choose another with -i NETDEV"
	elif [[ $driver == rxe && -e $RXE_ROOT/proc/net/vlan/$1 ]]; then
		cause="$1 is a VLAN, and rxe can only be made on a real device"
		fix="choose the device below it with -i NETDEV"
	elif ! ((flags & 1)); then
		cause="netdev $1 is down"
		fix="sudo ip link set $1 up"
	elif [[ $line != 1 ]]; then
		cause="netdev $1 has no carrier (no cable, or no peer)"
		fix="connect it, or choose another with -i NETDEV"
	else
		netdev_addresses "$1"
		[[ -z $addresses ]] || return 0
		cause="netdev $1 has no IPv4 or global IPv6 address"
		fix="sudo ip addr add ADDRESS/PREFIX dev $1"
	fi
}

# Sets netdev and reason: the default route's, else the first one that can;
# else fails, with cause and fix.
pick_netdev() {
	local family route dir

	reason="it has the default route"
	for family in -4 -6; do
		route=$(ip -o "$family" route show default 2>/dev/null)
		[[ $route =~ " dev "([^ ]+) ]] || continue
		netdev=${BASH_REMATCH[1]}
		return
	done
	reason="there is no default route, and it is up and has an address"
	for dir in "$RXE_ROOT"/sys/class/net/*/; do
		dir=${dir%/}
		netdev=${dir##*/}
		netdev_trouble "$netdev"
		[[ -n $cause ]] || return 0
	done
	netdev=''
	cause="no netdev is up and has an address"
	fix="sudo ip link set NETDEV up; sudo ip addr add ADDRESS/PREFIX dev NETDEV"
	return 1
}

# Sets uid, ppid and caps (effective capabilities, in hexadecimal) of process.
process_facts() {
	local key value rest

	uid='' ppid='' caps=0
	[[ -r /proc/$1/status ]] || return
	while read -r key value rest; do
		case $key in
		PPid:) ppid=$value ;;
		Uid:) uid=$value ;;
		CapEff:) caps=$value ;;
		esac
	done <"/proc/$1/status"
}

# Sets pid to the process whose limits count: this one, or under sudo the one
# that called it, further up.
caller_pid() {
	pid=$$
	[[ $EUID == 0 && ${SUDO_UID:-0} != 0 ]] || return 0
	while process_facts "$pid"; do
		[[ $uid == "$SUDO_UID" ]] && return
		pid=$ppid
	done
	pid=$$
}

# Sets memlock_uid, memlock_soft and memlock_hard (kB, or unlimited) and
# memlock_exempt (yes or no): CAP_IPC_LOCK, bit 14, which root mostly has.
memlock_facts() {
	local pid uid ppid caps first second third soft hard rest

	caller_pid
	process_facts "$pid"
	memlock_exempt=no
	((0x$caps >> 14 & 1)) && memlock_exempt=yes
	memlock_uid=$uid
	while read -r first second third soft hard rest; do
		[[ "$first $second $third" == 'Max locked memory' ]] || continue
		[[ $soft == unlimited ]] || soft=$((soft / 1024))
		[[ $hard == unlimited ]] || hard=$((hard / 1024))
		memlock_soft=$soft memlock_hard=$hard
	done <"/proc/$pid/limits"
}

# Whether KB of locked memory are within a limit.
memlock_within() {
	[[ $2 == unlimited ]] || (($2 >= $1))
}

memlock_enough() {
	memlock_facts
	[[ $memlock_exempt == yes ]] ||
		memlock_within "$MEMLOCK_NEED_KB" "$memlock_soft"
}

memlock_text() {
	local unit=' kB'

	[[ $memlock_soft == unlimited ]] && unit=
	echo "user $(id -un "$memlock_uid") may lock $memlock_soft$unit"
}

memlock_fix() {
	if memlock_within "$MEMLOCK_GOOD_KB" "$memlock_hard"; then
		echo "ulimit -l $MEMLOCK_GOOD_KB, in this shell"
	else
		echo "put '$(id -un "$memlock_uid") - memlock $MEMLOCK_GOOD_KB' into" \
			"/etc/security/limits.conf, as root, and log in again"
	fi
}
