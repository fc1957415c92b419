#!/usr/bin/env bats
#
# setup_rxe.sh --check and --quiet-check: what they say of netdevs, of RDMA
# cards and limits, on machines made of files. No device needed.
# shellcheck disable=SC2154 # can and cannot are those of rxe_tree.bash

load rxe_tree

# A device like a RoCE card's: GIDs link-local, IPv4 but v1, IPv6, IPv4.
roce_card() {
	local port=/sys/class/infiniband/card0/ports/1 i

	put "$port/state" '4: ACTIVE'
	put "$port/link_layer" Ethernet
	put "$port/gids/0" fe80:0000:0000:0000:5054:00ff:fe52:4401
	put "$port/gids/1" 0000:0000:0000:0000:0000:ffff:c633:6401
	put "$port/gids/2" 2001:0db8:0000:0000:0000:0000:00a0:0001
	put "$port/gids/3" 0000:0000:0000:0000:0000:0000:0000:0000
	put "$port/gids/4" 0000:0000:0000:0000:0000:ffff:c633:6402
	for i in 0 1 2 4; do
		put "$port/gid_attrs/ndevs/$i" eth0
		put "$port/gid_attrs/types/$i" 'RoCE v2'
	done
	put "$port/gid_attrs/types/1" 'IB/RoCE v1'
	put /sys/class/infiniband_verbs/uverbs0/ibdev card0
	put /dev/infiniband/uverbs0 ''
	put /dev/infiniband/rdma_cm ''
}

@test "the netdev: what is wrong with it" {
	check 1 -i nix
	says MISSING 'there is no netdev nix' "$can, after"
	check 1 -i lo
	says MISSING 'lo is not an Ethernet device'
	netdev tun0 0x1091 65534
	check 1 -i tun0
	says MISSING 'tun0 is not an Ethernet device'
	netdev eth1 0x1002 1
	check 1 -i eth1
	says MISSING 'netdev eth1 is down' 'ip link set eth1 up'
	netdev eth1 0x1003 1
	check 1 -i eth1
	says MISSING 'eth1 has no IPv4 or global IPv6 address' 'ip addr add'
	put /sys/class/net/eth0/carrier 0
	told 1 MISSING 'eth0 has no carrier'
	put /sys/class/net/eth0/carrier 1
	put /proc/net/vlan/eth0 ''
	told 1 MISSING 'eth0 is a VLAN'
}

@test "the netdev: without a default route, the first that can" {
	netdev eth1 0x1003 1
	netdev aaa 0x1002 1
	stub ip '[[ $* == *"addr show dev eth1"* ]] &&
		echo "4: eth1    inet6 2001:db8::7/64 scope global"
		true'
	told 1 'ok       netdev        eth1 (there is no default route'
	stub ip ''
	told 1 MISSING 'no netdev is up and has an address' "$can, after"
	stub ip '[[ $* == *"-6 route show default" ]] &&
		echo "default via fe80::1 dev eth1 metric 1024"
		[[ $* == *"addr show dev"* ]] && echo "4: x inet 192.0.2.7/24"
		true'
	told 1 'ok       netdev        eth1 (it has the default route)'
}

@test "a card: usable, by the address of its RoCE v2 GID" {
	roce_card
	check 0
	[ "${lines[-1]}" = 'rxe: usable now: card0, address 198.51.100.2' ]
	rxe 0 --quiet-check
	[ "$output" = 198.51.100.2 ]
}

@test "a card: an IPv6 address, if there is no other" {
	roce_card
	rm "$RXE_ROOT/sys/class/infiniband/card0/ports/1/gids/4"
	rxe 0 --quiet-check
	[ "$output" = 2001:db8::a0:1 ]
}

@test "a card on InfiniBand: the address of IPoIB" {
	roce_card
	put /sys/class/infiniband/card0/ports/1/link_layer InfiniBand
	put /sys/class/infiniband/card0/device/net/eth0/type 32
	rxe 0 --quiet-check
	[ "$output" = 192.0.2.7 ]
}

# A siw device, whose one GID is the hardware address of its netdev.
siw_device() {
	local dir=/sys/class/infiniband/siw0

	put "$dir/node_type" '4: RNIC'
	put "$dir/node_desc" 'Software iWARP stack'
	put "$dir/ports/1/state" '4: ACTIVE'
	put "$dir/ports/1/link_layer" Ethernet
	put "$dir/ports/1/gids/0" 5254:0052:4401:0000:0000:0000:0000:0000
	put "$dir/ports/1/gid_attrs/types/0" 'IB/RoCE v1'
	put /sys/class/net/lo/address 00:00:00:00:00:00
	put /sys/class/net/eth0/address 52:54:00:52:44:01
	put /sys/class/infiniband_verbs/uverbs0/ibdev siw0
	put /dev/infiniband/uverbs0 ''
	put /dev/infiniband/rdma_cm ''
	put /usr/lib/x86_64-linux-gnu/libibverbs/libsiw-rdmav34.so ''
}

@test "siw: the address of the netdev that it sits on" {
	siw_device
	rxe 0 --quiet-check
	[ "$output" = 192.0.2.7 ]
	check 0 --driver siw
	[ "${lines[-1]}" = 'siw: usable now: siw0, address 192.0.2.7' ]
	rxe 0 --status
	says 'siw0 (siw)' 'eth0, 192.0.2.7'
	# It is no Soft-RoCE device on that netdev.
	check 1 -i eth0
	says 'there is no RDMA device on eth0 yet'
}

@test "a card that cannot be used, and why" {
	roce_card
	put /sys/class/infiniband/card0/ports/1/state '1: DOWN'
	told 1 MISSING 'port 1 of card0 is DOWN' 'can be set up: do what "fix" says'
	rxe 1 --quiet-check
	[ -z "$output" ]
	put /sys/class/infiniband/card0/ports/1/state '4: ACTIVE'
	put /sys/class/infiniband/card0/ports/1/gid_attrs/types/2 'IB/RoCE v1'
	put /sys/class/infiniband/card0/ports/1/gid_attrs/types/4 'IB/RoCE v1'
	told 1 MISSING 'card0 has no IPv4 or global IPv6 address'
	put /sys/class/infiniband/card0/ports/1/gid_attrs/types/2 'RoCE v2'
	rm "$RXE_ROOT/dev/infiniband/rdma_cm"
	told 1 MISSING 'rdma_ucm is not loaded' 'modprobe rdma_ucm'
	# Nobody can open a directory for writing, not even root.
	mkdir "$RXE_ROOT/dev/infiniband/rdma_cm"
	told 1 MISSING 'may not open' 'rdma_cm (drwx' 'fix: sudo chmod'
	rm "$RXE_ROOT/dev/infiniband/uverbs0"
	told 1 MISSING 'there is no' uverbs0 '--device=/dev/infiniband'
	rm -r "$RXE_ROOT/sys/class/infiniband_verbs"
	told 1 MISSING 'ib_uverbs is not loaded' 'modprobe ib_uverbs'
	check 1 -n rxe5
	says 'there is no rxe5 yet' "$can"
}

@test "-i and -n say which device is meant" {
	roce_card
	check 1 -i eth0
	says 'there is no RDMA device on eth0 yet' "$can"
	put /sys/class/infiniband/card0/parent eth0
	check 0 -i eth0
	says 'usable now: card0'
	check 1 -i eth0 -n rxe1
	says 'there is no rxe1 on eth0 yet'
}

# Root is exempt from the limit by a capability: run without it.
limited() {
	local drop=()

	((EUID)) || drop=(setpriv --bounding-set=-ipc_lock)
	PATH=$STUBS:$PATH run -"$1" "${drop[@]}" bash -c \
		"ulimit -Sl $3; ulimit -Hl $2; exec \"$SCRIPT\" --${4:-check}"
}

@test "the limit on locked memory" {
	roce_card
	limited 1 32 32
	says MISSING 'may lock 32 kB' limits.conf 'do what "fix" says above'
	limited 1 8192 32
	says MISSING 'ulimit -l 8192, in this shell'
	limited 0 4096 4096
	says 'note     memlock' 'may lock 4096 kB' limits.conf 'usable now'
	limited 0 8192 8192
	says 'ok       memlock' 'may lock 8192 kB' 'usable now'
	limited 1 32 32 quiet-check
	[ -z "$output" ]
	limited 0 64 64 quiet-check
	[ "$output" = 198.51.100.2 ]
}
