#!/usr/bin/env bash
# reach.sh - who can do what to a connection of chapter 04, and what stops that
#
# usage: scripts/reach.sh [ATTACK CONTROL]...
#
# In the lab with three nodes, and nowhere else, runs the chapter's server on node a and
# its client on node b, and somebody who attacks them. See docs/psn_security.md. Each
# line of the table at the end is one run. ATTACK is one of
#
#   user_send  another user of the client's machine, with an ordinary UDP socket, while
#              the client is idle: a SEND of MSG_DONE
#   user_end   the same: a WRITE with a wrong rkey
#   user_qp    the same user, with a queue pair that says that the server is its peer:
#              a SEND of MSG_DONE
#   data       a switch answers the client's READ, with bytes of its own
#   ack        a switch drops the client's SEND, and acknowledges it
#   nak        a switch refuses the client's SEND, which arrives
#   rst        a switch resets the TCP connection of the exchange, while the client is
#              idle
#   dreq       in chapter 02, a switch says the CM's goodbye in the client's name, while the
#              client is idle
#   between    the third node gets between the two by ARP, reads the client's WRITE and
#              sends one of its own
#   between6   the same, by IPv6's neighbour discovery
#   sweep      the third node, which has read nothing, sends a SEND with each of 65,536
#              PSNs, or as many as SWEEP says, while the client is idle; the client has
#              the last of them
#
# and CONTROL one of
#
#   none       the lab's network as it is
#   rights     /dev/infiniband for root only
#   filter     nftables: no program may send to UDP port 4791
#   box        the other user is in a network namespace
#   static     the two nodes ask nobody for the other one's MAC
#   source     reverse path check (rp_filter)
#   acl        the port of the switch that the third node is at: from there come only
#              its own addresses
#   random     the client has a random PSN
#   macsec     MACsec
#   ipsec      IPsec, transport mode
#   seal       both programs have the solution of the exercise 04/seal
#
# build/reach/ATTACK/CONTROL gets both ends' logs, and party.log, what the attacker
# said; wire.pcap, what was on the wire at the client's node or in the switch; and
# ladder, what `scripts/wire.sh --read` makes of that (with node). A sweep's has requests
# only, and of those of the sweep the last two.
#
# Exit status: 0 all ran, however they ended; 1 some did not; 2 usage.
set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top"
# shellcheck source=scripts/lib/cli.sh
source scripts/lib/cli.sh
# shellcheck source=scripts/lib/chapter.sh
source scripts/lib/chapter.sh
# shellcheck source=scripts/lib/device.sh
source scripts/lib/device.sh
# shellcheck source=scripts/lib/wiretap/runs.sh
source scripts/lib/wiretap/runs.sh
# shellcheck source=scripts/lib/wiretap/attackers.sh
source scripts/lib/wiretap/attackers.sh

cli_help "$@"
attacks=(user_send user_end user_qp data ack nak rst dreq between between6 sweep)
controls=(none rights filter box static source acl random macsec ipsec seal)
[[ $# -gt 0 ]] || set -- user_send none user_send rights user_send box \
	user_send filter user_send acl user_send macsec user_send ipsec user_send seal \
	user_end none user_end filter user_qp none user_qp rights user_qp box \
	user_qp filter user_qp ipsec user_qp seal data none data macsec data ipsec data seal \
	ack none ack ipsec nak none nak ipsec rst none rst ipsec dreq none dreq ipsec between none \
	between static between acl between ipsec between6 none between6 static \
	between6 acl between6 ipsec sweep none sweep source sweep acl sweep random sweep ipsec
runs=()
while [[ $# -gt 0 ]]; do
	[[ " ${attacks[*]} " == *" $1 "* ]] || cli_none attack "$1" "${attacks[@]}"
	[[ $# -gt 1 ]] || cli_misuse "CONTROL is missing after $1: ${controls[*]}"
	[[ " ${controls[*]} " == *" $2 "* ]] || cli_none control "$2" "${controls[@]}"
	runs+=("$1 $2")
	shift 2
done
[[ ${SWEEP:-1} =~ ^[1-9][0-9]{0,4}$ && ${SWEEP:-1} -le 65536 ]] ||
	cli_misuse "SWEEP=$SWEEP: how many numbers? From 1 to 65536"
cli_checked
drawing=yes
command -v node >/dev/null || {
	drawing=no
	echo "reach: there will be no ladders, which need node;" \
		"scripts/install_deps.sh check installs it" >&2
}

# arrange ATTACK CONTROL: the network for it.
arrange() {
	local parts=()

	case $2 in
	none | random | seal) ;;
	*) parts=("$2") ;;
	esac
	[[ ! $1 =~ ^(data|ack|nak|rst|dreq)$ ]] || parts+=(switch)
	network_is "${parts[@]}"
}

# says FILE REGEX: whether a log of this run has such a line.
says() {
	grep -qsE "$2" "$out/logs/$1"
}

# believed: whether the attack had its effect, in this run.
believed() {
	case $attack in
	user_send | user_qp | sweep) says server.err 'byte 1 of the memory is 0x00' ;;
	user_end | rst | dreq) says server.err 'status 5 ' ;;
	data) says client.log '^remote buffer: forged' ;;
	ack) says client.log 'Both DONE' && ! says server.log 'Both DONE' ;;
	nak) says client.err 'MSG_DONE: status 10 ' && ! says server.err 'status 10 ' ;;
	between*) says server.log '^lent memory: forged' ;;
	esac
}

# build_for PATCH…: sets copy, the chapter's programs with these patches.
build_for() {
	copy="build/reach/copy.$*"
	copy=${copy// /_}
	[[ $control != seal ]] || {
		copy+=.seal
		set -- "$@" 04_tls_psn/exercises/seal.patch
	}
	build "$chapter" "$copy" "$@"
}

# commands SERVER CLIENT: the programs, the client with a log on its own node.
commands() {
	cat >"$out/commands" <<-END
		server: ./server -1 $1
		client: bash -c './client $2 >/tmp/wiretap.log $3; status=\$?; cat /tmp/wiretap.log; exit \$status'
	END
}

# run_now MODE: the programs run, and the third party has its part in that.
run_now() {
	build_for show_memory
	commands "-t 5 $1" "-a ${net}1 $1" ''
	pair "$copy" "$out"
}

# run_idle [OPTION] COMMAND…: the client waits until COMMAND has been run.
run_idle() {
	local both failed='' option=$1

	shift
	# shellcheck disable=SC2086 # several
	build_for $idle
	place_neighbour
	commands '-t 120 write' "-t 120 -a 192.0.2.1 $option write" '<>/tmp/wiretap.go'
	pair "$copy" "$out" &
	both=$!
	client_waits
	"$@" >>"$out/party.log" 2>&1 || failed=yes
	# Either it is believed, or a while later the client may go on.
	await 5 believed || true
	client_goes_on
	wait "$both"
	[[ -z $failed ]] || {
		cat "$out/party.log" >&2
		return 1
	}
}

# The ladder of what was kept. Status 1: something in it is wrong, as it should be.
draw() {
	[[ $drawing == yes ]] || return 0
	scripts/wire.sh --read "$out/wire.pcap" >"$out/ladder" || [[ $? -eq 1 ]]
}

run() {
	rm -rf "$out"
	mkdir -p "$out"
	arrange "$attack" "$control"
	[[ ! $attack =~ $to_capture ]] || begin_capture
	case $attack in
	user_*) run_idle '' as_nobody "${attack#user_}" ;;
	sweep)
		[[ $control == random ]] || psn=(-P "$((predicted + numbers - 1))")
		run_idle "${psn[*]}" sweep
		;;
	between*)
		[[ $attack == between ]] || net=2001:db8::
		stand_between
		run_now write
		stop_party "$top/$out"
		;;
	rst | dreq)
		[[ $attack == rst ]] || chapter=02_write_read idle=idle_cm \
			connected='rdma resource show qp | grep -q "state RTS .*comm client"'
		start_switch "$top/$out" --send "$attack"
		run_idle '' true
		stop_party "$top/$out"
		;;
	*)
		start_switch "$top/$out" --send "$attack"
		run_now "$([[ $attack == data ]] && echo read || echo write)"
		stop_party "$top/$out"
		;;
	esac
	[[ ! -e $out/switch.log ]] || mv "$out/switch.log" "$out/party.log"
	[[ $control != acl ]] ||
		device_run c ip netns exec switch nft list table netdev acl >>"$out/party.log"
	[[ ! $attack =~ $to_capture ]] || end_capture
	[[ ! -e $out/switch.pcap ]] || mv "$out/switch.pcap" "$out/wire.pcap"
	[[ ! -e $out/wire.pcap ]] || draw
	# It leaves neighbours that are misled, or rules that have counted: not for the next.
	[[ "$attack $control" =~ ^between|filter$|acl$ ]] || return 0
	network=used changed+=([a]=yes [b]=yes)
}

# ended NAME: its status, and what it said first.
ended() {
	local status error

	status=$(sed -n "s/^$1: exit status //p" "$out/logs/status.log")
	error=$(sed -n '1s/^error: //p' "$out/logs/$1.err" 2>/dev/null)
	echo "$status${error:+ ${error:0:44}}"
}

row() {
	local effect=no

	# Neither what the attack is for, nor as if there had been nobody.
	! says status.log 'exit status [^0]' || effect=noticed
	! believed || effect=yes
	printf '%-9s %-8s %6s  %-7s  %-46s  %s\n' "$attack" "$control" \
		"$(sed -n 's/^sent of its own: //p' "$out/party.log")" "$effect" \
		"$(ended client)" "$(ended server)"
}

# each FUNCTION RUN…: for each of these.
each() {
	local function=$1 one

	shift
	for one; do
		read -r attack control <<<"$one"
		out=build/reach/$attack/$control psn=() net=192.0.2. chapter=04_tls_psn
		idle='show_memory idle' connected=''
		"$function"
	done
}
told() {
	echo "reach: $attack, $control"
	run
	sed 's/^/  the third party: /' "$out/party.log"
}

DEVICE=lab
# stop: whatever is still there.
stop() {
	[[ -z $capturing ]] || device_run "$watched" pkill -INT -x tcpdump || true
	cleanup_runs
}
trap stop EXIT
rm -rf build/reach
# Where no switch of ours has a capture.
to_capture='^(user_|between|sweep)'
device_open 3
# Those with the same network one after another: it takes longer to arrange than to run.
mapfile -t together < <(printf '%s\n' "${runs[@]}" | sort -s -k 2,2)
each told "${together[@]}"
echo
printf '%-9s %-8s %6s  %-7s  %-46s  %s\n' attack control forged effect \
	'the client: status, error' 'the server'
each row "${runs[@]}"
