# card.sh - what there is to know about an RDMA card, a line for each thing, with the
# cause and the fix where something is in the way
#
# Sourced by scripts/card.sh after the other parts. Changes nothing.
# shellcheck shell=bash disable=SC2034,SC2100,SC2154 # variables cross the files

# Where docs/troubleshooting.md tells more.
entry[use]=permission entry[namespace]=no-device

# attribute FILE: sets line to that of the device's directory.
attribute() {
	read_line "/sys/class/infiniband/$name/$1"
}

# Sets maker: of the PCI device, which for irdma is ice or i40e, for bnxt_re
# bnxt_en. Software devices have no PCI device.
card_driver() {
	maker=$(readlink "$ib/$name/device/driver")
	maker=${maker##*/}
	find_parent "$name"
	[[ -z $parent ]] || maker=rdma_rxe
}

card_identity() {
	local firmware board

	attribute fw_ver
	firmware=$line
	attribute board_id
	board=$line
	card_driver
	tell ok device "$name, driver ${maker:-unknown}, firmware \
${firmware:-none}${board:+, board $board}"
}

# What kind of queue pairs it has. All chapters need reliable connected ones (RC).
card_transport() {
	attribute node_type
	if [[ $maker == efa ]]; then
		tell no transport "EFA has no RC queue pairs, only UD and its own, SRD: \
no chapter can run on it" 'the lab; and for EFA itself, libfabric'
	elif [[ $maker == mana ]]; then
		tell note transport "MANA has had RC queue pairs since rdma-core 56, with \
a kernel of that time; before, making one fails" \
			'a newer distribution, or the lab'
	elif [[ $line == 4:* ]]; then
		tell note transport "iWARP: RDMA over TCP, which not all chapters can \
use" 'docs/beyond.md says which can'
	elif [[ $line != 1:* ]]; then
		tell no transport "a device of the kind '${line:-unknown}', which has no \
RC queue pairs" 'the lab'
	else
		tell ok transport "InfiniBand's, with RC queue pairs"
	fi
}

# Why a port is not ACTIVE: sets cause and fix.
card_port_trouble() {
	local physical=$1

	entry[port]=port-down
	cause="port $port is $state ($physical)"
	case $state in
	INIT)
		entry[port]=port-init
		cause+=': the link is up, but no subnet manager has given it a LID'
		fix="start one on one host of the network (the package opensm), or in"
		fix+=' the switch'
		;;
	ARMED)
		cause+=': the subnet manager is not done with it'
		fix='wait; if it stays so, look at the log of the subnet manager'
		;;
	*)
		fix="sudo ip link set ${netdev:-NETDEV} up"
		case $physical in
		Polling) fix='connect the cable, and switch on the port at its other end' ;;
		Disabled) [[ $layer != InfiniBand ]] ||
			fix="switch it on: ibportstate -D 0 $port enable" ;;
		esac
		;;
	esac
}

# Sets port_line, layer, netdev and state of a port.
card_port_facts() {
	local rate dir

	port_state "$name" "$port"
	attribute "ports/$port/link_layer"
	layer=$line
	attribute "ports/$port/rate"
	rate=$line
	netdev=''
	attribute "ports/$port/gid_attrs/ndevs/0"
	netdev=$line
	for dir in "$ib/$name"/device/net/*/; do
		[[ -z $netdev && -d $dir ]] || continue
		dir=${dir%/}
		netdev=${dir##*/}
	done
	port_line="$port of $name: $state, ${layer:-no link layer}, ${rate:-no rate}"
	port_line+=", netdev ${netdev:-none}"
}

card_port() {
	local physical

	card_port_facts
	if [[ $state == ACTIVE ]]; then
		tell ok port "$port_line"
		return
	fi
	attribute "ports/$port/phys_state"
	physical=${line#*: }
	card_port_trouble "$physical"
	tell fix port "$cause" "$fix"
	return 1
}

# The GIDs by type; and the netdevs that are in another network namespace.
card_gids() {
	local i one two=0 away=''

	find_gids "$name" "$port"
	for i in "${!gid[@]}"; do
		[[ ${gid_type[i]} != 'RoCE v2' ]] || two=$((two + 1))
		one=${gid_netdev[i]}
		[[ -z $one || -d $RXE_ROOT/sys/class/net/$one ]] || away=$one
	done
	if [[ $layer == InfiniBand ]]; then
		tell ok GIDs "${#gid[@]} of InfiniBand"
	elif ((two == 0)); then
		tell fix GIDs "${#gid[@]}, none of them of RoCE v2, which the chapters use" \
			"an address on ${netdev:-its netdev}; RoCE v2 in the card's settings"
	else
		tell ok GIDs "${#gid[@]}, $two of them of RoCE v2"
	fi
	[[ -z $away ]] || tell fix namespace \
		"its netdev $away is in another network namespace: no address is found" \
		"$(card_namespace_fix)"
	card_cm_type
}

# How a device comes into a namespace depends on what `rdma system` says.
card_namespace_fix() {
	local step="rdma dev set $name netns NAMESPACE, on the host"

	if [[ $(rdma system 2>/dev/null) == *'netns exclusive'* ]]; then
		echo "$step; and move $away there"
	else
		echo "start the container in the host's network (--network=host); or" \
			"rdma system set netns exclusive, then $step"
	fi
}

# The CM's choice of a GID's type can be set; the directory is there only if so.
card_cm_type() {
	local file=/sys/kernel/config/rdma_cm/$name/ports/$port/default_roce_mode

	read_line "$file" || return 0
	[[ $line == 'RoCE v2' ]] || tell fix CM \
		"the connection manager is set to '$line' here, its peers mostly to v2" \
		"echo 'RoCE v2' | sudo tee $file"
}

# An address and the /dev files, as for Soft-RoCE.
card_use() {
	device_trouble "$name" "$port"
	if [[ -n $cause ]]; then
		tell fix use "$cause" "$fix"
		return 1
	fi
	tell ok use "this user can, by the address $address"
}

# Sets rdma_mtu, the most data in a packet, from the netdev's MTU: what the kernel
# takes off for headers is 96 bytes (iboe_get_mtu).
card_mtu_of() {
	local mtu=$(($1 - 96)) one

	rdma_mtu=256
	for one in 512 1024 2048 4096; do
		((mtu < one)) || rdma_mtu=$one
	done
}

card_mtu() {
	[[ $layer == Ethernet && -n $netdev ]] || return 0
	read_line "/sys/class/net/$netdev/mtu" || return 0
	card_mtu_of "$line"
	if ((rdma_mtu == 4096)); then
		tell ok MTU "$netdev has $line: $rdma_mtu bytes of data in a packet"
	else
		tell note MTU "$netdev has $line: $rdma_mtu bytes of data in a packet" \
			"for 4096, on all hosts and switches: sudo ip link set $netdev mtu 4200"
	fi
	[[ -z $peer ]] || card_path
}

passes() {
	ping -M 'do' -c 1 -W 2 -s "$1" -I "$netdev" "$peer" >/dev/null 2>&1
}

# RoCE finds out nothing of the path: a packet that is too long for it is gone.
# IP, UDP, BTH, RETH and ICRC are 60 bytes, and a ping has 28 itself.
card_path() {
	if ! have ping; then
		tell note path 'not looked at: there is no ping command' \
			"$(how_to_install iputils-ping iputils)"
	elif passes $((rdma_mtu + 32)); then
		tell ok path "packets with $rdma_mtu bytes of data reach $peer whole"
	elif passes 56; then
		tell fix path "a small packet reaches $peer, one with $rdma_mtu bytes of \
data does not" "raise the MTU of each switch on the way, or lower it at both ends"
	else
		tell fix path "$peer answers no ping by $netdev" \
			"is the address right, is the other end up, is it the same network"
	fi
}

# Lossless or not: what dcb and ethtool tell of the host's end of the cable.
card_flow() {
	local on pause

	[[ $layer == Ethernet && -n $netdev ]] || return 0
	if ! have dcb && ! have ethtool; then
		tell note 'flow control' 'not looked at: there is neither dcb nor ethtool' \
			"$(how_to_install 'iproute2 ethtool' 'iproute ethtool')"
		return
	fi
	on=$(dcb pfc show dev "$netdev" prio-pfc 2>/dev/null |
		grep -o '[0-7]:on' | tr -d '\n')
	on=${on//:on/ }
	pause=$(ethtool -a "$netdev" 2>/dev/null | grep -c '^[RT]X:[[:space:]]*on')
	if [[ -n $on ]]; then
		tell note 'flow control' "PFC for priority ${on% }" \
			"give the programs a traffic class of it, and the switches the same"
	elif [[ $pause == 2 ]]; then
		tell ok 'flow control' 'pause frames, for all traffic together'
	else
		tell note 'flow control' \
			'neither PFC nor pause: where a switch is too full, packets are lost' \
			'none on one cable; else docs/beyond.md, and the same on each switch'
	fi
	tell note ECN 'not looked at: neither dcb nor ethtool knows the card' \
		"the maker's tool, or its driver's files"
}

card_numa() {
	local node nodes=("$RXE_ROOT"/sys/devices/system/node/node[0-9]*)

	attribute device/numa_node
	node=$line
	if [[ -z $node || $node == -1 ]]; then
		tell ok NUMA 'of no node'
	elif ((${#nodes[@]} < 2)); then
		tell ok NUMA "node $node, the only one"
	else
		tell note NUMA "node $node of ${#nodes[@]}: what uses it belongs there" \
			"numactl -N $node -m $node ./server ..., where latency counts"
	fi
}

card_container() {
	local kind mode

	kind=$(container_kind)
	[[ -n $kind ]] || return 0
	mode=$(rdma system 2>/dev/null)
	mode=${mode#netns }
	tell note container "this is one ($kind): what it may use is decided when it starts" \
		'start it with --device=/dev/infiniband --ulimit memlock=-1'
	[[ -z $mode ]] || tell note namespaces \
		"RDMA devices are ${mode%% *} among network namespaces"
}

# All about one device.
card_check() {
	local dir

	name=$1 peer=$2
	card_identity
	card_transport
	for dir in "$ib/$name"/ports/*; do
		port=${dir##*/}
		card_port || continue
		card_gids
		card_use
		card_mtu
		card_flow
	done
	card_numa
	card_container
}
