#!/usr/bin/env bash
# wiretap.sh - what a switch can do to chapters 03 and 04, but not to MACsec or IPsec
#
# usage: scripts/wiretap.sh
#
# In a lab of its own, with two nodes, puts a switch between them and runs a
# client and a server across it. The switch reads one packet and sends one of
# its own: see docs/psn_security.md. Each line of the table at the end is one
# run: the number of the chapter, and what is between the two:
#
#   open     RoCE on the wire as it is; the switch reads the client's WRITE
#   nothing  the same; what it sends is a WRITE of no bytes, without an rkey
#   badkey   the same; what it sends has a wrong rkey
#   told     the switch reads nothing, and is told the numbers instead
#   macsec   RoCE on MACsec; it is told them, as it can read nothing
#   ipsec    the same with IPsec between the two nodes
#
# build/wiretap/CHAPTER/LINK gets both ends' logs, switch.log and the capture,
# switch.pcap.
#
# Exit status: 0 all ran, however they ended; 1 some did not; 2 usage.
set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top"
# shellcheck source=scripts/lib/cli.sh
source scripts/lib/cli.sh
# shellcheck source=scripts/lib/chapter.sh
source scripts/lib/chapter.sh

cli_help "$@"
[[ $# -eq 0 ]] || cli_misuse "there is no argument $1"
runs=('03 open' '04 open' '04 nothing' '04 badkey' '04 told' '03 macsec' '04 macsec' '04 ipsec')
PATH+=:/usr/sbin
if ! command -v ethtool >/dev/null || ! /usr/bin/python3 -c 'import scapy' 2>/dev/null; then
	echo "wiretap.sh: ethtool or python3-scapy is missing; scripts/install_deps.sh wire installs it" >&2
	exit 1
fi

# What the lab's network has: each one is made in a fresh lab, so that none is taken back.
network=''
network_is() {
	local key_a key_b

	[[ $network != "$1" ]] || return 0
	scripts/lab.sh down
	scripts/lab.sh up --nodes 2
	network=$1
	net b switch
	key_a=$(key 16) key_b=$(key 16)
	case $1 in
	macsec)
		net a macsec eth0 "$key_a" "$key_b"
		net b macsec eth1 "$key_b" "$key_a"
		;;
	# Its key has 4 bytes of salt behind the key of AES.
	ipsec)
		key_a+=$(key 4) key_b+=$(key 4)
		net a ipsec "$key_a" "$key_b"
		net b ipsec "$key_b" "$key_a"
		;;
	esac
}

net() {
	scripts/lab.sh exec "$1" -- scripts/lib/wiretap/net.sh "${@:2}"
}

# So many random bytes.
key() {
	od -An -N"$1" -tx1 /dev/urandom | tr -d ' \n'
}

switch=''
cleanup() {
	[[ -z $switch ]] || kill -TERM "$switch" 2>/dev/null || true
	scripts/lab.sh down
}

# build CHAPTER COPY: its programs; the server says in the end what is in its memory.
build() {
	[[ ! -d $2 ]] || return 0
	chapter_update "$1" "$2"
	patch -f -s -d "$(dirname "$(find "$2" -name server.c)")" -p1 \
		<scripts/lib/wiretap/show_memory.patch
	make -s -C "$2"
}

# start_switch OUT [OPTION...]: returns once it passes frames on.
start_switch() {
	local line out=$1

	shift
	scripts/lab.sh exec b -- rm -f /tmp/wiretap.log
	coproc SWITCH { exec scripts/lab.sh exec b -- ip netns exec switch scripts/lib/python.sh \
		wiretap.switch "$@" port1 eth0 "$out/switch.pcap" 2>&1; }
	switch=$SWITCH_PID
	exec {said}<&"${SWITCH[0]}"
	IFS= read -r line <&"$said" || true
	[[ $line == 'passing frames on' ]] || {
		echo "wiretap.sh: the switch: ${line:-ended at once}" >&2
		return 1
	}
}

# stop_switch OUT: what it said goes to OUT/switch.log.
stop_switch() {
	kill -TERM "$switch"
	cat <&"$said" >"$1/switch.log"
	exec {said}<&-
	wait "$switch"
	switch=''
}

# run CHAPTER LINK: one client and one server, and the switch between them.
run() {
	local chapter copy=build/wiretap/$1/copy out=build/wiretap/$1/$2 before options=()

	chapter=$(compgen -G "$1_*/Makefile")
	rm -rf "$out"
	mkdir -p "$out"
	case $2 in
	macsec | ipsec) network_is "$2" ;;
	*) network_is switch ;;
	esac
	before=$(duplicates)
	build "${chapter%/Makefile}" "$copy"
	# The client's log is a file of node b's, so that the switch, there
	# too, can be told what is in it.
	cat >"$out/commands" <<-'END'
		server: ./server -1 -t 5 write
		client: bash -c './client -a 192.0.2.1 write >/tmp/wiretap.log; status=$?; cat /tmp/wiretap.log; exit $status'
	END
	case $2 in
	told | macsec | ipsec) options=(--told /tmp/wiretap.log) ;;
	nothing | badkey) options=(--send "$2") ;;
	esac
	start_switch "$top/$out" "${options[@]}"
	scripts/pair.sh -n 2 -d "$copy" "$out/commands" "$out/logs"
	stop_switch "$top/$out"
	echo "$(($(duplicates) - before))" >"$out/duplicates"
}

# How many packets node a has taken for ones that it had before.
duplicates() {
	scripts/lab.sh exec a -- cat /sys/class/infiniband/rxe0/ports/1/hw_counters/duplicate_request
}

# What came of it: from the logs of both ends, and of who was between them.
row() {
	local out=build/wiretap/$1/$2 memory sent send='' delivered=no

	memory=$(sed -n 's/^lent memory: //p' "$out/logs/server.log")
	sent=$(sed -n 's/^sent of its own: //p' "$out"/*.log)
	# The client's last request is the send of MSG_DONE.
	grep -q 'Both DONE' "$out/logs/client.log" && send=success
	grep -q 'Both DONE' "$out/logs/server.log" && delivered=yes
	# What the server got before the client had sent it.
	[[ -n $send || $delivered == no ]] || delivered=forged
	printf '%-8s %-8s %6s  %-34s %-9s %-9s %10s\n' "$1" "$2" "$sent" \
		"${memory:0:34}" "${send:-failed}" "$delivered" \
		"$(cat "$out/duplicates")"
}

export DEVICE=lab LAB_NAME=${LAB_NAME:-wiretap}-$$
trap cleanup EXIT
rm -rf build/wiretap
for each in "${runs[@]}"; do
	read -r chapter link <<<"$each"
	echo "wiretap: chapter $chapter, $link"
	run "$chapter" "$link"
	sed 's/^/  the switch: /' "build/wiretap/$chapter/$link/switch.log"
	sed 's/^/  the server: /' "build/wiretap/$chapter/$link/logs/server.err" \
		2>/dev/null || true
done
echo
printf '%-8s %-8s %6s  %-34s %-9s %-9s %10s\n' chapter link forged \
	"the server's memory in the end" SEND delivered duplicates
for each in "${runs[@]}"; do
	read -r chapter link <<<"$each"
	row "$chapter" "$link"
done
