#!/usr/bin/env bats
#
# Which device, port and GID a program takes on a host with several, and what a
# network may want of its packets: in the lab, with Soft-RoCE on a netdev, on
# another, on a bond, and for a VLAN.

# shellcheck disable=SC2154,SC2034 # set and used by helpers.bash
load helpers
load says

CHAPTER=03_pure_verbs

setup_file() {
	open_device
	build_chapter 03_pure_verbs
	[[ $device_where != lab ]] || for node in a b; do
		device_run "$node" bash -c "$(declare -f add_netdevs)
			add_netdevs $node"
	done
}

teardown_file() {
	[[ $device_where != lab ]] || for node in a b; do
		device_run "$node" bash -c 'rdma link delete rxe1
			rdma link delete rxe2
			for netdev in t0 t2 t4 bond0; do
				ip link del "$netdev"
			done
			ip link del eth0.7' || true
	done
	close_device
}

# rxe1 on t0 and rxe2 on a bond, which lead nowhere; a VLAN on eth0, whose
# addresses rxe0 has as well.
add_netdevs() {
	local number=1

	[[ $1 == a ]] || number=2
	set -e
	modprobe -a veth 8021q bonding
	ip link add t0 type veth peer name t1
	ip link add bond0 type bond mode active-backup miimon 100 \
		fail_over_mac active
	ip link add t2 type veth peer name t3
	ip link add t4 type veth peer name t5
	ip link set t2 master bond0
	ip link set t4 master bond0
	ip link add link eth0 name eth0.7 type vlan id 7
	for netdev in t0 t1 t2 t3 t4 t5 bond0 eth0.7; do
		ip link set "$netdev" up
	done
	ip addr add "198.51.100.$number/26" dev t0
	ip addr add "198.51.100.$((64 + number))/26" dev bond0
	ip addr add "198.51.100.$((128 + number))/26" dev eth0.7
	scripts/setup_rxe.sh -i t0 -n rxe1
	scripts/setup_rxe.sh -i bond0 -n rxe2
	for netdev in eth0 eth0.7; do
		until ip -6 addr show dev "$netdev" scope link -tentative |
			grep -q fe80; do
			read -rt 0.1 <> <(:) || true
		done
	done
}

# link_local NODE: the address that eth0 and its VLAN share.
link_local() {
	device_run "$1" ip -6 -o addr show dev eth0 scope link |
		sed -n 's/.* inet6 \([^/ ]*\).*/\1/p'
}

# ask ADDRESS [OPTION…]: a client, and what it says of its device and queue pair.
ask() {
	echo "to $1"
	./client -a "$1" "${@:2}" write >client.said || fail "client: $1"
	grep -E '^(Opened|INIT|RTR|remote buffer)' client.said
}

# A server of this node that listens at all its addresses, and clients beside it.
all_devices() {
	start_server ./server write
	for one; do
		ask "$one"
	done
	grep '^Opened' "$scratch/server.log"
}

@test "03: several devices, a bond and a VLAN: the one with the address that is used" {
	needs_lab
	FUNCTIONS=ask run -0 on_device a all_devices 192.0.2.1 198.51.100.1 \
		198.51.100.65 198.51.100.129
	says 'to 192.0.2.1' 'device: rxe0' 'remote buffer' \
		'to 198.51.100.1' 'device: rxe1' 'sgid_index=1' 'remote buffer' \
		'to 198.51.100.65' 'device: rxe2' 'remote buffer' \
		'to 198.51.100.129' 'device: rxe0' 'remote buffer' \
		'Opened RDMA device: rxe0' 'Opened RDMA device: rxe1' \
		'Opened RDMA device: rxe2'
}

# captured CLIENT WORDS…: runs the function CLIENT with each of WORDS, in which
# commas stand for spaces. What its capture has: VLAN, sender, DSCP, length.
captured() {
	local capture=$scratch/packets.pcap client=$1 one

	shift
	tcpdump -i eth0 -n -s 4096 --immediate-mode -B 32768 -U -w "$capture" \
		'udp port 9 or udp port 4791 or (vlan and udp port 4791)' 2>"$scratch/tcpdump" &
	dump=$!
	await 'a capture' has_line tcpdump 'listening on'
	for one; do
		# shellcheck disable=SC2086 # an address and options
		"$client" ${one//,/ }
	done
	# What was sent before this is in the file when this is.
	echo 'all of it' >/dev/udp/192.0.2.1/9
	await 'the end of the capture' grep -aq 'all of it' "$capture"
	kill -INT "$dump"
	wait "$dump" || true
	tshark -r "$capture" -Y 'udp.port != 9' -T fields -e vlan.id -e ip.src -e ipv6.src \
		-e ip.dsfield.dscp -e frame.len 2>/dev/null |
		sed 's/^/packet /; s/\t/|/g' | sort | uniq -c
}

@test "03: a VLAN's packets are tagged, by its IPv4 address and its link-local one" {
	local six

	needs_lab
	six=$(link_local a)
	[[ $six == fe80::* ]]
	FUNCTIONS=ask between_nodes 'serve_until_eof ./server write' \
		"captured ask 198.51.100.129 $six%eth0 $six%eth0.7"
	[[ $status -eq 0 ]]
	says 'to 198.51.100.129' 'remote buffer' "to $six%eth0" 'sgid_index=0' \
		"to $six%eth0.7" 'remote buffer'
	# Of one address, with a tag and without; of IPv4, only with.
	[[ $output == *"packet 7||$six|"* && $output == *"packet ||$six|"* ]]
	[[ $output == *'packet 7|198.51.100.129|'* ]]
	[[ $output != *'packet |198.51.100.129|'* ]]
}

@test "03: traffic class and MTU are in the packets, timeout and retries in the queue pair" {
	needs_lab
	FUNCTIONS=ask between_nodes 'serve_until_eof ./server -Q 104 write' \
		'captured ask 192.0.2.1,-Q,72,-M,256,-S,3,-I,0,-E,17,-N,3'
	[[ $status -eq 0 ]]
	says path_mtu=256 'timeout=17, retry_cnt=3' 'remote buffer'
	[[ $output == *'packet |192.0.2.1||26|'* && $output == *'packet |192.0.2.2||18|'* ]]
	[[ $output != *'|192.0.2.1||0|'* && $output != *'|192.0.2.2||0|'* ]]
	# 1,024 bytes in packets of 256, and headers of at most 74.
	[[ ! $output =~ \|(3[4-9][0-9]|[4-9][0-9][0-9]|[0-9]{4})$'\n' ]]
}

# send_file ADDRESS [OPTION…]: a client of chapter 07.
send_file() {
	./client -a "$1" "${@:2}" send /etc/services >client.said ||
		fail "client: $1"
	grep -o 'stored, [0-9]* bytes' client.said
}

# The CM tells the server, whose packets have it as well.
@test "07: the traffic class that the client asks for is in both sides' packets" {
	needs_lab
	build_chapter 07_full_speed
	CHAPTER=07_full_speed FUNCTIONS='send_file' between_nodes \
		'serve_until_eof ./server -d /tmp' \
		'captured send_file 192.0.2.1,-Q,72'
	[[ $output == *'stored, '*'packet |192.0.2.1||18|'*'packet |192.0.2.2||18|'* ]]
	[[ $output != *'|192.0.2.1||0|'* && $output != *'|192.0.2.2||0|'* ]]
}

# The other end of the active side's cable is taken off: the bond goes on by the
# other side, and with its hardware address, of which the CM tells.
fail_over() {
	local side

	await "a bond with two sides" two_sides
	read -r side </sys/class/net/bond0/bonding/active_slave
	ip link set "t$((${side#t} + 1))" down
	await "a hint" has_line server.log 'ADDR_CHANGE: only a hint'
	ip link set "t$((${side#t} + 1))" up
}
# The bond's own line is the third.
two_sides() {
	[[ $(grep -c "^MII Status: up" /proc/net/bonding/bond0) -eq 3 ]]
}

# idle_server CLIENT-WORDS -- SERVER-WORDS
idle_server() {
	local words=()

	until [[ $1 == -- ]]; do
		words+=("$1")
		shift
	done
	shift
	start_server ./server -1 -a 198.51.100.65 "$@"
	fail_over
	run_client 0 ./client -a 198.51.100.65 "${words[@]}"
	end_of server "$server" 0
	says_nothing server.err
	start_server ./server -1 -a 198.51.100.65 "$@"
	fail_over
	stop_server
	says_nothing server.err
}

@test "01, 02, 07: a bond that fails over ends no server that waits for a client" {
	needs_lab
	FUNCTIONS='fail_over two_sides'
	for CHAPTER in 01_send_recv 02_write_read 07_full_speed; do
		build_chapter "$CHAPTER"
	done
	CHAPTER=01_send_recv on_device a idle_server --
	CHAPTER=02_write_read on_device a idle_server write -- write
	CHAPTER=07_full_speed on_device a idle_server send /etc/services -- \
		-d /tmp
}
