# rxe_device.sh - RDMA devices, netdevs and their addresses, as the kernel shows them
#
# Sourced by setup_rxe.sh after machine.sh. No function here changes anything.
# shellcheck shell=bash disable=SC2034,SC2154 # variables cross the files

ib=/sys/class/infiniband

# The names of all RDMA devices.
devices() {
	[[ ! -d $ib ]] || ls "$ib"
}

# line FILE: the first line of it, or nothing.
line() {
	{ head -n 1 "$1"; } 2>/dev/null
}

# Sets addresses to those of a netdev; link-local ones, which need a scope, do not count.
netdev_addresses() {
	addresses=$(ip -o addr show dev "$1" scope global 2>/dev/null |
		awk '{ sub("/.*", "", $4); print $4 }' | xargs)
}

# Sets kind to Soft-RoCE, siw or nothing, and parent to the netdev below such a device.
find_parent() {
	kind='' parent=$(line "$ib/$1/parent")
	if [[ -n $parent ]]; then
		kind=Soft-RoCE
	elif [[ $(line "$ib/$1/node_desc") == 'Software iWARP stack' ]]; then
		kind=siw
		parent=$(rdma link show "$1/1" 2>/dev/null | sed -n 's/.* netdev \([^ ]*\).*/\1/p')
	fi
}

# gids DEVICE PORT: "INDEX GID TYPE, NETDEV" of those in use, a line each. The table of
# rxe has 1,024 places: one process looks at all.
gids() {
	(cd "$ib/$1/ports/$2" && grep -H '[1-9a-f]' gids/* 2>/dev/null) | sort -t / -k 2n |
		while IFS=/: read -r _ index gid; do
			echo "$index $gid $(line "$ib/$1/ports/$2/gid_attrs/types/$index"), $(line "$ib/$1/ports/$2/gid_attrs/ndevs/$index")"
		done
}

# The IPv4 address that a GID stands for, if it does.
ipv4_of() {
	local hex=${1#0000:0000:0000:0000:0000:ffff:}

	[[ $hex != "$1" ]] || return 0
	hex=${hex/:/}
	printf '%d.%d.%d.%d' "0x${hex:0:2}" "0x${hex:2:2}" "0x${hex:4:2}" "0x${hex:6:2}"
}

# Sets address to what to give to -a for a port: on RoCE that of a v2 GID, IPv4 before
# IPv6; on InfiniBand that of its IPoIB netdev, on iWARP of its netdev.
device_address() {
	local gid type netdev layer

	address='' addresses=''
	layer=$(line "$ib/$1/ports/$2/link_layer")
	find_parent "$1"
	if [[ $layer == InfiniBand ]]; then
		for netdev in "$ib/$1"/device/net/*; do
			netdev_addresses "${netdev##*/}"
			[[ -z $addresses ]] || break
		done
	elif [[ $kind == siw ]]; then
		netdev_addresses "$parent"
	else
		while read -r _ gid type; do
			[[ $type == 'RoCE v2,'* && $gid != fe80:* ]] || continue
			address=$(ipv4_of "$gid")
			[[ -z $address ]] || return 0
			netdev_addresses "${type##* }"
			addresses=$(tr ' ' '\n' <<<"$addresses" | grep -m 1 :)
		done < <(gids "$1" "$2")
	fi
	address=${addresses%% *}
}

# Only an open says whether this user can: a container's rules refuse what the
# permissions allow.
can_open() {
	{ : <>"$1"; } 2>/dev/null
}

# Why a port of a device cannot be used by this user now: sets cause and fix;
# if it can, both are empty and address is set.
device_trouble() {
	local cm=/dev/infiniband/rdma_cm node state
	local in_container='in a container, start it with --device=/dev/infiniband'

	cause='' fix=''
	state=$(line "$ib/$1/ports/$2/state")
	device_address "$1" "$2"
	node=$(grep -lx "$1" /sys/class/infiniband_verbs/*/ibdev 2>/dev/null)
	node=${node:+/dev/infiniband/$(basename "${node%/ibdev}")}
	if [[ $state != *ACTIVE ]]; then
		cause="port $2 of $1 is ${state#*: }${parent:+, like its netdev $parent}"
		fix="sudo ip link set ${parent:-NETDEV} up, or connect its cable"
	elif [[ -z $address ]]; then
		cause="$1 has no IPv4 or global IPv6 address to connect to"
		fix="sudo ip addr add ADDRESS/PREFIX dev ${parent:-NETDEV}"
	elif [[ -z $node ]]; then
		cause="ib_uverbs is not loaded, so programs cannot reach $1"
		fix="sudo modprobe ib_uverbs"
	elif [[ ! -e $node ]]; then
		cause="there is no $node"
		fix="sudo udevadm trigger; $in_container"
	elif [[ ! -e $cm ]]; then
		cause="there is no $cm: rdma_ucm is not loaded"
		fix="sudo modprobe rdma_ucm; $in_container"
	elif ! can_open "$node" || ! can_open "$cm"; then
		can_open "$node" && node=$cm
		cause="$(id -un) may not open $node ($(stat -c '%A %U %G' "$node"))"
		fix="sudo chmod 0666 $node; $in_container"
	elif have ibv_devices && ! ibv_devices 2>/dev/null | grep -qw "$1"; then
		cause="libibverbs finds no provider library for $1"
		fix=$(how_to_install ibverbs-providers)
	fi
}

# Sets device and address to the first, or the first of that name, that is usable now;
# else fails, with cause and fix of the last one if there is any.
find_usable() {
	local port

	cause='' fix='' address='' device=''
	for name in ${1:-$(devices)}; do
		[[ -d $ib/$name ]] || continue
		device=$name
		for port in "$ib/$device"/ports/*; do
			device_trouble "$device" "${port##*/}"
			[[ -n $cause ]] || return 0
		done
	done
	return 1
}

# Sets there to the Soft-RoCE device on a netdev, or to nothing.
find_rxe_on() {
	for there in $(devices); do
		find_parent "$there"
		[[ $parent != "$1" || $kind != Soft-RoCE ]] || return 0
	done
	there=''
	return 1
}

# Whether this user may lock the memory of a conversation: registered memory is pinned.
memlock_enough() {
	local limit

	limit=$(ulimit -l)
	memlock="user $(id -un) may lock $limit kB"
	[[ $EUID != 0 ]] || memlock+=', and is exempt from the limit'
	[[ $EUID == 0 || $limit == unlimited || $limit -ge 64 ]]
}

# Why a netdev cannot carry the device: sets cause and fix, or empties them.
netdev_trouble() {
	local net=/sys/class/net/$1

	cause='' fix='choose another with -i NETDEV'
	netdev_addresses "$1"
	if [[ ! -d $net ]]; then
		cause="there is no netdev $1"
		fix="-i NETDEV, one of those that 'ip link' shows"
	elif [[ $(line "$net/type") != 1 || -e /proc/net/vlan/$1 ]]; then
		cause="$1 is not an Ethernet device of its own, and rxe needs one"
	elif ! (($(line "$net/flags") & 1)); then
		cause="netdev $1 is down"
		fix="sudo ip link set $1 up"
	elif [[ $(line "$net/carrier") != 1 ]]; then
		cause="netdev $1 has no carrier (no cable, or no peer)"
	elif [[ -z $addresses ]]; then
		cause="netdev $1 has no IPv4 or global IPv6 address"
		fix="sudo ip addr add ADDRESS/PREFIX dev $1"
	fi
}

# Sets netdev, if it is not given, and reason: the default route's, else the first one
# that can; fails, with cause and fix, if that cannot.
pick_netdev() {
	local given=$netdev

	reason='chosen with -i'
	if [[ -z $given ]]; then
		reason='it has the default route'
		netdev=$({ ip -o route show default; ip -o -6 route show default; } 2>/dev/null |
			sed -n 's/.* dev \([^ ]*\).*/\1/p' | head -n 1)
	fi
	if [[ -z $netdev ]]; then
		reason='there is no default route, and it is up and has an address'
		for netdev in /sys/class/net/*; do
			netdev=${netdev##*/}
			netdev_trouble "$netdev"
			[[ -n $cause ]] || break
		done
	else
		netdev_trouble "$netdev"
	fi
	[[ -n $cause ]] || return 0
	[[ $reason != there* ]] || {
		cause='no netdev is up and has an address'
		fix='sudo ip link set NETDEV up; sudo ip addr add ADDRESS/PREFIX dev NETDEV'
	}
	return 1
}
