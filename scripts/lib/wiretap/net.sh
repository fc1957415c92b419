#!/usr/bin/env bash
# net.sh - the lab's network with a switch in it, and with MACsec: for one node
#
# usage: net.sh switch          (node b)  put a switch between the two nodes
#        net.sh acl             (node c)  put a switch before node c, which checks what
#                               comes from there
#        net.sh macsec DEVICE OWN_KEY PEER_KEY  encrypt what crosses DEVICE
#        net.sh ipsec OWN_KEY PEER_KEY  encrypt all between the two nodes
#        net.sh neighbours NODE MAC     never ask again who NODE is
#        net.sh source         drop what comes from where its source is not
#        net.sh rights         /dev/infiniband for root only
#        net.sh filter         (node b) drop what a program sends to RoCE's port
#        net.sh box            (node b) a network namespace without a network
#        net.sh mend            as the lab had it
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
node-c) number=3 peer= ;;
*) echo "net.sh: neither node a, b nor c" >&2 && exit 1 ;;
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

put_switch() {
	rdma link delete rxe0
	ip netns add switch
	ip netns exec switch bash -c "$(declare -f no_ipv6); no_ipv6 default"
	ip link add eth1 address "$mac$number" type veth \
		peer name port1 netns switch
	ip link set eth0 netns switch
	ip -n switch link set port1 up
	ip -n switch link set eth0 up
	ip netns exec switch "$here/../python.sh" wiretap.offload eth0
	no_ipv6 eth1
	"$here/../python.sh" wiretap.offload eth1
	ip addr add "192.0.2.$number/24" dev eth1
	ip link set eth1 up
	rxe_on eth1
}

# The port of the switch that node c is at lets pass what has node c's address as its
# source, whether by IP or ARP, and says no other's MAC (bytes 8 to 23 of a neighbour
# advertisement are whose it is). Node c proper cannot change that.
access_list() {
	put_switch
	ip -n switch link add bridge type bridge
	# Not the node's own MAC, or the bridge would take its frames for its own.
	ip -n switch link set eth0 down
	ip -n switch link set eth0 address 52:54:00:52:44:13 master bridge up
	ip -n switch link set port1 master bridge
	ip -n switch link set bridge up
	ip netns exec switch nft -f - <<-'END'
		table netdev acl {
			chain port {
				type filter hook ingress device port1 priority 0
				ip saddr != 192.0.2.3 counter drop
				arp saddr ip != 192.0.2.3 counter drop
				ip6 saddr != 2001:db8::3 counter drop
				icmpv6 type nd-neighbor-advert @th,64,128 != 0x20010db8000000000000000000000003 counter drop
			}
		}
	END
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

source_check() {
	local file

	for file in /proc/sys/net/ipv4/conf/*/rp_filter; do
		echo 1 >"$file"
	done
}

# A packet of a program has a socket with an owner. One that rxe has made for a queue
# pair passes the same hook, and has none.
filter() {
	nft -f - <<-'END'
		table ip reach {
			chain output {
				type filter hook output priority 0
				udp dport 4791 meta skuid 0-4294967295 counter drop
				udp dport 4791 counter
			}
		}
	END
}

# Whatever was done, in whichever order, and if nothing was.
mend() {
	local file

	rdma link delete rxe0 2>/dev/null || true
	ip xfrm policy flush
	ip xfrm state flush
	nft delete table ip reach 2>/dev/null || true
	ip netns delete box 2>/dev/null || true
	chmod 666 /dev/infiniband/rdma_cm
	ip link delete macsec0 2>/dev/null || true
	ip link delete eth1 2>/dev/null || true
	if [[ -e /run/netns/switch ]]; then
		ip -n switch link set eth0 netns 1 2>/dev/null || true
		ip netns delete switch
		ip link set eth0 address "$mac$number"
	fi
	echo 0 >/proc/sys/net/ipv6/conf/eth0/disable_ipv6
	ip addr flush dev eth0 scope global
	ip addr add "192.0.2.$number/24" dev eth0
	ip addr add "2001:db8::$number/64" dev eth0 nodad
	ip link set eth0 up
	for file in /proc/sys/net/ipv4/conf/*/rp_filter; do
		echo 0 >"$file"
	done
	ip neigh flush dev eth0 nud all
	rxe_on eth0
}

case ${1:-} in
switch) put_switch ;;
acl) access_list ;;
macsec) encrypt "$2" "$3" "$4" ;;
ipsec) ipsec "$2" "$3" ;;
neighbours) ip neigh replace "$2" lladdr "$3" dev eth0 nud permanent ;;
source) source_check ;;
rights) chmod 600 /dev/infiniband/* ;;
filter) filter ;;
box) ip netns add box ;;
mend) mend ;;
*)
	sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"
	exit 2
	;;
esac
