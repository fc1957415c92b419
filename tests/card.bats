#!/usr/bin/env bats
#
# card.sh: what it says of RDMA cards, on machines made of files. No device needed;
# what it says of a real Soft-RoCE device is in setup_rxe.bats.
# shellcheck disable=SC2154 # set by bats

load says
load rxe_tree

# card NAME DRIVER LINK_LAYER: an ACTIVE port, whose netdev is eth0.
card() {
	local dir=/sys/class/infiniband/$1

	port=$dir/ports/1
	put "$dir/node_type" '1: CA'
	put "$dir/fw_ver" 16.35.2000
	put "$dir/board_id" MT_0000000008
	put "$dir/device/numa_node" 0
	mkdir -p "$RXE_ROOT/sys/bus/drivers/$2" "$RXE_ROOT$dir/device/net/eth0"
	ln -sfn "$RXE_ROOT/sys/bus/drivers/$2" "$RXE_ROOT$dir/device/driver"
	put "$port/state" '4: ACTIVE'
	put "$port/phys_state" '5: LinkUp'
	put "$port/link_layer" "$3"
	put "$port/rate" '100 Gb/sec (4X EDR)'
	gid 0 fe80:0000:0000:0000:5054:00ff:fe52:4401 'IB/RoCE v1'
	gid 1 0000:0000:0000:0000:0000:ffff:c000:0207 'RoCE v2'
	put /sys/class/net/eth0/mtu 9000
	put /sys/class/infiniband_verbs/uverbs0/ibdev "$1"
	put /dev/infiniband/uverbs0 ''
	put /dev/infiniband/rdma_cm ''
	put /sys/devices/system/node/node0/cpulist 0-3
	stub rdma 'echo "netns shared copy-on-fork on"'
	stub dcb ''
	stub ethtool ''
	# What passes, in bytes: all but what is longer than $LONGEST.
	stub ping '[[ $* == *"-M do"*"-I eth0 192.0.2.9" ]] || exit 2
		while [[ $1 != -s ]]; do shift; done
		(($2 <= ${LONGEST:-9000}))'
}

gid() {
	put "$port/gids/$1" "$2"
	put "$port/gid_attrs/types/$1" "$3"
	put "$port/gid_attrs/ndevs/$1" eth0
}

look() {
	PATH=$STUBS:$PATH run -"$1" "$BATS_TEST_DIRNAME/../scripts/card.sh" "${@:2}"
}

# looks STATUS TEXT…: it ends with that, and says this.
looks() {
	look "$1"
	says "${@:2}"
}

well='card: nothing is in the way'

@test "a card with nothing in its way; and no card" {
	look 0
	[ "$output" = 'card: there is no RDMA card here' ]
	card mlx5_0 mlx5_core Ethernet
	look 0 192.0.2.9
	says 'ok       device        mlx5_0, driver mlx5_core, firmware 16.35.2000, board MT_0000000008' \
		"ok       transport     InfiniBand's" \
		'ok       port          1 of mlx5_0: ACTIVE, Ethernet, 100 Gb/sec (4X EDR), netdev eth0' \
		'ok       GIDs          2, 1 of them of RoCE v2' \
		'ok       use           this user can, by the address 192.0.2.7' \
		'ok       MTU           eth0 has 9000: 4096 bytes' \
		'ok       path          packets with 4096 bytes of data reach 192.0.2.9 whole' \
		'ok       NUMA          node 0, the only one' memlock "$well"
	silent_on MISSING
	silent_on container
	# Soft-RoCE is no card, unless one asks for it.
	put /sys/class/infiniband/mlx5_0/parent eth0
	look 0
	[ "$output" = 'card: there is no RDMA card here, only Soft-RoCE' ]
	look 0 -d mlx5_0
	says 'driver rdma_rxe' "$well"
	look 1 -d mlx5_1
	says 'no RDMA device mlx5_1 here; there is: mlx5_0'
}

@test "a port: no subnet manager, no cable, switched off" {
	card mlx5_0 mlx5_core InfiniBand
	put "$port/state" '2: INIT'
	looks 1 MISSING 'port 1 is INIT (LinkUp)' 'no subnet manager' 'opensm' \
		'troubleshooting.md#port-init' 'card: do what "fix" says'
	silent_on GIDs
	put "$port/state" '3: ARMED'
	looks 1 'port 1 is ARMED' 'not done with it' 'the log of the subnet manager'
	put "$port/state" '1: DOWN'
	put "$port/phys_state" '2: Polling'
	look 1
	says 'port 1 is DOWN (Polling)' 'connect the cable' 'troubleshooting.md#port-down'
	put "$port/phys_state" '3: Disabled'
	looks 1 'fix: switch it on: ibportstate'
	put "$port/link_layer" Ethernet
	looks 1 'port 1 is DOWN (Disabled)' 'fix: sudo ip link set eth0 up'
}

@test "InfiniBand: GIDs without an address, no MTU of Ethernet" {
	card mlx5_0 mlx5_core InfiniBand
	look 0 192.0.2.9
	says 'GIDs          2 of InfiniBand' 'by the address 192.0.2.7' "$well"
	silent_on MTU
	silent_on 'flow control'
}

@test "GIDs: none of RoCE v2, or of a netdev that is elsewhere" {
	card mlx5_0 mlx5_core Ethernet
	put "$port/gid_attrs/types/1" 'IB/RoCE v1'
	looks 1 MISSING '2, none of them of RoCE v2' 'an address on eth0'
	put "$port/gid_attrs/types/1" 'RoCE v2'
	rm -r "$RXE_ROOT/sys/class/net/eth0"
	looks 1 MISSING 'its netdev eth0 is in another network namespace' \
		'--network=host' 'rdma system set netns exclusive'
	stub rdma 'echo "netns exclusive copy-on-fork on"'
	looks 1 'fix: rdma dev set mlx5_0 netns NAMESPACE, on the host; and move eth0'
}

@test "the connection manager is set to RoCE v1" {
	card mlx5_0 mlx5_core Ethernet
	put /sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_mode 'RoCE v2'
	look 0
	put /sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_mode 'IB/RoCE v1'
	looks 1 MISSING "set to 'IB/RoCE v1'" "echo 'RoCE v2' | sudo tee"
}

@test "an address, /dev/infiniband: as for Soft-RoCE" {
	card mlx5_0 mlx5_core Ethernet
	rm "$RXE_ROOT/dev/infiniband/rdma_cm"
	looks 1 MISSING use 'rdma_ucm is not loaded' 'sudo modprobe rdma_ucm' \
		'--device=/dev/infiniband'
}

@test "the MTU, and a path that drops long packets" {
	card irdma0 ice Ethernet
	LONGEST=1500 look 1 192.0.2.9
	says 'driver ice' MISSING \
		'a small packet reaches 192.0.2.9, one with 4096 bytes of data does not' \
		'raise the MTU of each switch'
	LONGEST=0 look 1 192.0.2.9
	says MISSING '192.0.2.9 answers no ping by eth0'
	put /sys/class/net/eth0/mtu 1500
	LONGEST=1472 look 0 192.0.2.9
	says 'note     MTU           eth0 has 1500: 1024 bytes' 'mtu 4200' \
		'packets with 1024 bytes of data reach' "$well"
	# 96 bytes are for headers.
	put /sys/class/net/eth0/mtu 4192
	looks 0 'eth0 has 4192: 4096 bytes'
	silent_on path
	put /sys/class/net/eth0/mtu 4191
	looks 0 'eth0 has 4191: 2048 bytes'
}

@test "flow control: PFC, pause, nothing, nobody to ask" {
	local tool

	card mlx5_0 mlx5_core Ethernet
	looks 0 'note     flow control  neither PFC nor pause' 'ECN           not looked at'
	stub ethtool '[[ $* == "-a eth0" ]] && printf "RX:\t\ton\nTX:\t\toff\n"'
	looks 0 'neither PFC nor pause'
	stub ethtool '[[ $* == "-a eth0" ]] && printf "RX:\t\ton\nTX:\t\ton\n"'
	looks 0 'ok       flow control  pause frames'
	stub dcb '[[ $* == "pfc show dev eth0 prio-pfc" ]] &&
		echo "prio-pfc 0:off 1:off 2:off 3:on 4:off 5:on 6:off 7:off "'
	looks 0 'note     flow control  PFC for priority 3 5' 'a traffic class of it'
	rm "$STUBS/dcb" "$STUBS/ethtool"
	for tool in bash sed grep id dirname readlink tr cat; do
		ln -s "$(command -v "$tool")" "$STUBS/$tool"
	done
	# card.sh itself adds the places of root's commands.
	sed '/^PATH=/d' "$BATS_TEST_DIRNAME/../scripts/card.sh" \
		>"$BATS_TEST_TMPDIR/card.sh"
	sed -i "s|^top=.*|top='$BATS_TEST_DIRNAME/..'|" "$BATS_TEST_TMPDIR/card.sh"
	PATH=$STUBS run -0 "$STUBS/bash" "$BATS_TEST_TMPDIR/card.sh"
	says 'flow control  not looked at: there is neither dcb nor ethtool' \
		'apt-get install iproute2 ethtool'
}

@test "NUMA: of several nodes, one is the card's" {
	card mlx5_0 mlx5_core Ethernet
	put /sys/devices/system/node/node1/cpulist 4-7
	put /sys/class/infiniband/mlx5_0/device/numa_node 1
	looks 0 'note     NUMA          node 1 of 2' 'numactl -N 1 -m 1'
	put /sys/class/infiniband/mlx5_0/device/numa_node -1
	looks 0 'ok       NUMA          of no node'
}

@test "a container" {
	card mlx5_0 mlx5_core Ethernet
	ln -sfn 'pid:[4026532001]' "$RXE_ROOT/proc/self/ns/pid"
	touch "$RXE_ROOT/.dockerenv"
	looks 0 'note     container     this is one (docker)' \
		'--device=/dev/infiniband --ulimit memlock=-1' \
		'note     namespaces    RDMA devices are shared'
}

@test "what has no RC queue pairs, or not all of RoCE: EFA, MANA, iWARP" {
	card efa_0 efa Unspecified
	put /sys/class/infiniband/efa_0/node_type '7: unspecified'
	looks 1 MISSING 'EFA has no RC queue pairs' 'fix: the lab'
	card efa_0 other_core Unspecified
	put /sys/class/infiniband/efa_0/node_type '6: usNIC UDP'
	looks 1 MISSING "of the kind '6: usNIC UDP'"
	card mana_0 mana Ethernet
	rm -r "$RXE_ROOT/sys/class/infiniband/efa_0"
	looks 0 'note     transport     MANA' 'rdma-core 56'
	card iwp0 iw_cxgb4 Ethernet
	rm -r "$RXE_ROOT/sys/class/infiniband/mana_0"
	put /sys/class/infiniband/iwp0/node_type '4: RNIC'
	# The GID of iWARP is the hardware address.
	gid 0 0007:4301:0203:0000:0000:0000:0000:0000 ''
	put /sys/class/net/eth0/address 00:07:43:01:02:03
	looks 0 'note     transport     iWARP'
}

@test "card.sh: wrong usage" {
	look 2 -x
	says 'there is no option -x'
	look 2 -d
	says '-d needs a device'
	look 2 192.0.2.9 192.0.2.10
	says 'one PEER at the most'
	look 2 host.example
	says "'host.example' is no IP address"
	look 0 -h
	says usage: 'Exit status: 0'
}
