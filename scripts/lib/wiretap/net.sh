#!/usr/bin/env bash
# net.sh - the lab's network with a switch in it, and with MACsec: for one node
#
# usage: net.sh switch          (node b)  put a switch between the two nodes
#        net.sh macsec DEVICE OWN_KEY PEER_KEY  encrypt what crosses DEVICE
#        net.sh ipsec OWN_KEY PEER_KEY  encrypt all between the two nodes
#
# ../../wiretap.sh runs it in the two nodes of the lab, as root; it refuses to run
# anywhere else. The switch is a network namespace of the node, which has the node's
# end of the wire, eth0, and a cable (a veth pair) to the node proper, where eth1
# takes eth0's place. It has no address, and no part in RDMA.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=scripts/lib/cli.sh
source "$here/../cli.sh"
cli_help "$@"
if [[ " $(</proc/cmdline) " != *' rdma_lab=1 '* ]]; then
	echo "net.sh: this machine is not a node of the lab" \
		"(scripts/lab.sh up --nodes 2), and it runs nowhere else" >&2
	exit 1
fi
case $(</proc/sys/kernel/hostname) in
node-a) number=1 peer=2 ;;
node-b) number=2 peer=1 ;;
*) echo "net.sh: neither node a nor b" >&2 && exit 1 ;;
esac
mac=52:54:00:52:44:0

# Soft-RoCE on another network device than before.
rxe_on() {
	rdma link delete rxe0 2>/dev/null || true
	rdma link add rxe0 type rxe netdev "$1"
}

# no_ipv6 DIRECTORY: IPv6 speaks unasked, which would be noise in the capture.
no_ipv6() {
	echo 1 >"/proc/sys/net/ipv6/conf/$1/disable_ipv6"
}

# whole COMMAND...: with this, a device sends and delivers frames as they are on the wire: a kernel
# leaves checksums to the device where it can, and joins what it has received.
whole() {
	"$@" tx off gro off >/dev/null
}

put_switch() {
	rdma link delete rxe0
	ip netns add switch
	ip netns exec switch bash -c "$(declare -f no_ipv6); no_ipv6 default"
	ip link add eth1 address "$mac$number" type veth \
		peer name port1 netns switch
	ip link set eth0 netns switch
	# With an address for it: scapy complains otherwise.
	ip -n switch link set lo up
	ip -n switch link set port1 up
	ip -n switch link set eth0 up
	whole ip netns exec switch ethtool -K eth0
	no_ipv6 eth1
	whole ethtool -K eth1
	ip addr add "192.0.2.$number/24" dev eth1
	ip link set eth1 up
	rxe_on eth1
}

encrypt() {
	local device=$1 own=$2 other=$3

	rdma link delete rxe0
	no_ipv6 "$device"
	ip addr del "192.0.2.$number/24" dev "$device"
	ip link add link "$device" macsec0 type macsec encrypt on \
		replay on window 0
	ip macsec add macsec0 tx sa 0 pn 1 on key 01 "$own"
	ip macsec add macsec0 rx port 1 address "$mac$peer"
	ip macsec add macsec0 rx port 1 address "$mac$peer" sa 0 pn 1 on \
		key 02 "$other"
	no_ipv6 macsec0
	ip addr add "192.0.2.$number/24" dev macsec0
	ip link set macsec0 up
	rxe_on macsec0
}

# IPsec (RFC 4303), transport mode, AES-GCM: the source and the destination say what is
# to be encrypted, and nothing in the clear is taken from the peer.
ipsec() {
	local net own other

	# What a port says does not count: when rxe looks for its way, it has no ports yet.
	for net in 192.0.2. 2001:db8::; do
		own=$net$number other=$net$peer
		esp "$own" "$other" "0x100$number" "$1"
		esp "$other" "$own" "0x100$peer" "$2"
		ip xfrm policy add dir out src "$own" dst "$other" \
			tmpl src "$own" dst "$other" proto esp mode transport
		ip xfrm policy add dir in src "$other" dst "$own" \
			tmpl src "$other" dst "$own" proto esp mode transport
	done
	# rxe keeps the way that it has found.
	rxe_on "$(ip -br addr show to "192.0.2.$number" | sed 's/[@ ].*//')"
}

# esp FROM TO SPI KEY
esp() {
	ip xfrm state add src "$1" dst "$2" proto esp spi "$3" mode transport \
		aead 'rfc4106(gcm(aes))' "0x$4" 128
}

case ${1:-} in
switch) put_switch ;;
macsec) encrypt "$2" "$3" "$4" ;;
ipsec) ipsec "$2" "$3" ;;
*) cli_misuse "switch, macsec or ipsec?" ;;
esac
