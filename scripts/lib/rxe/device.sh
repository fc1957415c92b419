# device.sh - RDMA devices and their addresses, as /sys shows them
#
# Sourced by setup_rxe.sh after facts.sh. No function here changes anything.
# shellcheck shell=bash disable=SC2034,SC2154 # variables cross the files

ib=$RXE_ROOT/sys/class/infiniband

# Sets names to all RDMA devices.
find_devices() {
	local dir

	names=()
	for dir in "$ib"/*/; do
		[[ -d $dir ]] || continue
		dir=${dir%/}
		names+=("${dir##*/}")
	done
}

# Whether it is an iWARP device, which the kernel calls an RDMA NIC.
is_iwarp() {
	read_line "/sys/class/infiniband/$1/node_type"
	[[ $line == *RNIC ]]
}

# Sets under to the netdev of an iWARP device: its GID begins with the hardware
# address of that.
find_under() {
	local dir gid

	read_line "/sys/class/infiniband/$1/ports/1/gids/0"
	gid=${line//:/}
	for dir in "$RXE_ROOT"/sys/class/net/*/; do
		dir=${dir%/}
		under=${dir##*/}
		read_line "/sys/class/net/$under/address"
		[[ ${line//:/} != "${gid:0:12}" ]] || return 0
	done
	under=''
}

# Sets parent to the netdev that a Soft-RoCE or siw device sits on, and kind to
# which of the two it is: for others, nothing.
find_parent() {
	kind=Soft-RoCE
	read_line "/sys/class/infiniband/$1/parent"
	parent=$line
	[[ -z $parent ]] || return 0
	read_line "/sys/class/infiniband/$1/node_desc"
	[[ $line == 'Software iWARP stack' ]] || return 0
	kind=siw
	find_under "$1"
	parent=$under
}

# Sets there to the device of our driver on a netdev, or to nothing.
find_rxe_on() {
	local name

	find_devices
	for name in "${names[@]}"; do
		there=$name
		find_parent "$name"
		[[ $parent != "$1" || $kind != "$driver_kind" ]] || return 0
	done
	there=''
	return 1
}

# Sets state: the kernel writes "4: ACTIVE".
port_state() {
	read_line "/sys/class/infiniband/$1/ports/$2/state"
	state=${line#*: }
}

# Sets gid_index, gid, gid_type and gid_netdev: the entries of the GID table
# that are in use. The table of rxe has 1,024 entries, and may have holes.
find_gids() {
	local dir=/sys/class/infiniband/$1/ports/$2 index

	gid_index=() gid=() gid_type=() gid_netdev=()
	for ((index = 0; ; index++)); do
		read_line "$dir/gids/$index" || break
		[[ $line != *[!0:]* ]] && continue
		gid_index+=("$index")
		gid+=("$line")
		read_line "$dir/gid_attrs/types/$index"
		gid_type+=("$line")
		read_line "$dir/gid_attrs/ndevs/$index"
		gid_netdev+=("$line")
	done
}

# Sets address to that inside a GID: 0000:...:ffff:c000:0201 is 192.0.2.1.
gid_address() {
	local hex group left='' right=''

	address=$1
	if [[ $1 == 0000:0000:0000:0000:0000:ffff:* ]]; then
		hex=${1#0000:0000:0000:0000:0000:ffff:}
		hex=${hex/:/}
		printf -v address '%d.%d.%d.%d' "0x${hex:0:2}" \
			"0x${hex:2:2}" "0x${hex:4:2}" "0x${hex:6:2}"
		return
	fi
	# The first zeros become ::, leading zeros of the other groups go.
	for group in ${1//:/ }; do
		printf -v group %x "0x$group"
		if [[ -z $right && $group == 0 && $left != *:: ]]; then
			left=${left:-:}:
		elif [[ -z $right && $group == 0 ]]; then
			continue
		elif [[ $left == *:: ]]; then
			right+=${right:+:}$group
		else
			left+=$group:
		fi
	done
	address=$left$right
	[[ $address == *::* ]] || address=${address%:}
}

# Sets address to what to give to -a for a port: on RoCE that of a v2 GID, IPv4
# before IPv6; on InfiniBand that of its IPoIB netdev, on iWARP of its netdev. Link-local addresses do
# not count: they need a scope, which two hosts do not share.
device_address() {
	local port=/sys/class/infiniband/$1/ports/$2 i dir six=''

	address=''
	read_line "$port/link_layer"
	if [[ $line == InfiniBand ]]; then
		for dir in "$ib/$1"/device/net/*/; do
			[[ -d $dir ]] || continue
			dir=${dir%/}
			netdev_addresses "${dir##*/}"
			address=${addresses%% *}
			[[ -z $address ]] || return
		done
		return
	fi
	if is_iwarp "$1"; then
		find_under "$1"
		netdev_addresses "$under"
		address=${addresses%% *}
		return
	fi
	# Not find_gids: the first IPv4 address ends the search, mostly early.
	for ((i = 0; ; i++)); do
		read_line "$port/gids/$i" || break
		[[ $line == *[!0:]* && $line != fe80:* ]] || continue
		gid_address "$line"
		read_line "$port/gid_attrs/types/$i"
		[[ $line == 'RoCE v2' ]] || continue
		[[ $address == *:* ]] || return 0
		six=${six:-$address}
	done
	address=$six
}

# Sets node to the /dev/infiniband file of a device, whether it exists or not,
# or to nothing: ib_uverbs has none for it.
device_node() {
	local dir

	for dir in "$RXE_ROOT"/sys/class/infiniband_verbs/uverbs*; do
		read_line "${dir#"$RXE_ROOT"}/ibdev"
		node=$RXE_ROOT/dev/infiniband/${dir##*/}
		[[ $line != "$1" ]] || return 0
	done
	node=''
}

# Whether this user can open it. Only an open says: a container's rules refuse
# what the permissions allow.
can_open() {
	{ : <>"$1"; } 2>/dev/null
}

# provider_library DRIVER: prints where the library for it is, if it is anywhere.
provider_library() {
	local name=lib$1-rdmav

	compgen -G "$RXE_ROOT/usr/lib*/libibverbs/$name*.so" ||
		compgen -G "$RXE_ROOT/usr/lib/*/libibverbs/$name*.so" ||
		compgen -G "$RXE_ROOT/usr/local/lib*/libibverbs/$name*.so"
}

# Whether libibverbs can use the device. ibv_devices is libibverbs' own answer;
# without it, look for the provider library of its driver.
device_supported() {
	if have ibv_devices && [[ -z $RXE_ROOT ]]; then
		[[ $(ibv_devices 2>/dev/null) =~ [[:space:]]"$1"[[:space:]] ]]
		return
	fi
	find_parent "$1"
	[[ -n $parent ]] || return 0
	if [[ $kind == siw ]]; then
		provider_library siw
	else
		provider_library rxe
	fi >/dev/null
}

# Why a port of a device cannot be used by this user now: sets cause and fix;
# if it can, both are empty and address is set.
device_trouble() {
	local cm=$RXE_ROOT/dev/infiniband/rdma_cm in_container
	in_container='in a container, start it with --device=/dev/infiniband'

	cause='' fix='' address=''
	port_state "$1" "$2"
	if [[ $state != ACTIVE ]]; then
		find_parent "$1"
		cause="port $2 of $1 is $state${parent:+, like its netdev $parent}"
		fix="sudo ip link set ${parent:-NETDEV} up, or connect its cable"
		return
	fi
	device_address "$1" "$2"
	if [[ -z $address ]]; then
		find_parent "$1"
		cause="$1 has no IPv4 or global IPv6 address to connect to"
		fix="sudo ip addr add ADDRESS/PREFIX dev ${parent:-NETDEV}"
		return
	fi
	device_node "$1"
	if [[ -z $node ]]; then
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
	elif ! device_supported "$1"; then
		cause="libibverbs finds no provider library for $1"
		fix=$(how_to_install ibverbs-providers libibverbs)
	fi
}

# Sets device, port and address to the first, or the first of that name, that
# is usable now; else fails, with cause and fix of the last one if there is any.
find_usable() {
	local dir one

	cause='' fix='' address='' device='' port=''
	find_devices
	for one in "${names[@]}"; do
		[[ -z $1 || $1 == "$one" ]] || continue
		device=$one
		for dir in "$ib/$device"/ports/*; do
			port=${dir##*/}
			device_trouble "$device" "$port"
			[[ -n $cause ]] || return 0
		done
	done
	return 1
}
