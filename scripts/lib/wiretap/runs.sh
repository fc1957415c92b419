# runs.sh - a client, a server, and who is between them or beside one of them: what
# wiretap.sh and reach.sh have in common; to be sourced after device.sh and chapter.sh
#
#   network_is [PART]…        the network has these parts of net.sh, and no others
#   mend                      the lab's network as it was
#   build CHAPTER COPY PATCH… a chapter's programs, with these patches
#   start_switch OUT [OPTION…], stop_switch OUT
#   start_party NODE OUT WORDS COMMAND…, stop_party OUT: a third party that says WORDS
#                             as soon as it is there
#   pair COPY OUT             runs OUT/commands; logs to OUT/logs
#   await SECONDS COMMAND…    until it succeeds; fails if it never does
#
# The caller sets top, and calls cleanup_runs at its end.
# shellcheck shell=bash disable=SC2154

# Which parts the network has: "macsec switch" is not "switch macsec". Which nodes are
# not as they were.
network=''
declare -A changed=()
network_is() {
	local address part key_a key_b

	[[ $network != "$*" ]] || return 0
	[[ -z $network ]] || mend
	network=$*
	key_a=$(key 16)
	key_b=$(key 16)
	# From the wire upwards.
	for part in switch "${@/switch/}"; do
		[[ " $* " == *" $part "* ]] || continue
		case $part in
		switch) net b switch ;;
		macsec)
			net a macsec "$(wire a)" "$key_a" "$key_b"
			net b macsec "$(wire b)" "$key_b" "$key_a"
			;;
		# Its key has 4 bytes of salt behind the key of AES.
		ipsec)
			key_a+=$(key 4) key_b+=$(key 4)
			net a ipsec "$key_a" "$key_b"
			net b ipsec "$key_b" "$key_a"
			;;
		static)
			for address in 192.0.2. 2001:db8::; do
				net a neighbours "${address}2" "${mac}2"
				net b neighbours "${address}1" "${mac}1"
			done
			;;
		acl) net c acl ;;
		source | rights) net a "$part" && net b "$part" ;;
		*) net b "$part" ;;
		esac
	done
}
mac=52:54:00:52:44:0

net() {
	changed[$1]=yes
	device_run "$1" scripts/lib/wiretap/net.sh "${@:2}"
}

# What node NODE has for the wire: behind a switch, it has a cable to that.
wire() {
	[[ "$1 $network " =~ ^(b .*switch|c .*acl)' ' ]] && echo eth1 || echo eth0
}

# So many random bytes.
key() {
	od -An -N"$1" -tx1 /dev/urandom | tr -d ' \n'
}

mend() {
	local node

	for node in "${!changed[@]}"; do
		net "$node" mend
	done
	network='' changed=()
}

party=''
cleanup_runs() {
	[[ -z $party ]] || kill -TERM "$party" 2>/dev/null || true
	[[ -z $network ]] || mend || echo "${0##*/}: the lab's network is not" \
		"as it was; end it: scripts/lab.sh down" >&2
	device_close
}

# build CHAPTER COPY PATCH…: a chapter's programs, with these patches: files, or names of
# those beside this script.
build() {
	local chapter=$1 copy=$2 patch programs

	shift 2
	[[ ! -d $copy ]] || return 0
	chapter_update "$chapter" "$copy"
	programs=$(dirname "$(find "$copy" -name server.c)")
	for patch; do
		# 04 has its own modules.
		if [[ $patch == */* ]]; then
			patch -f -s -d "$copy" -p1 <"$patch"
		else
			patch -f -s -d "$programs" -p1 <"scripts/lib/wiretap/$patch.patch"
		fi
	done
	make -s -C "$copy"
}

# start_party NODE OUT WORDS COMMAND…: returns once it has said WORDS.
start_party() {
	local line node=$1 words=$3

	shift 3
	coproc PARTY { exec scripts/lab.sh exec "$node" -- "$@" 2>&1; }
	party=$PARTY_PID
	exec {said}<&"${PARTY[0]}"
	IFS= read -r line <&"$said" || true
	if [[ $line != "$words" ]]; then
		echo "${0##*/}: the third party: ${line:-ended at once}" >&2
		return 1
	fi
}

# stop_party OUT: what it said goes to OUT/switch.log.
stop_party() {
	kill -TERM "$party"
	cat <&"$said" >"$1/switch.log"
	exec {said}<&-
	wait "$party"
	party=''
}

# start_switch OUT [OPTION…]: returns once it passes frames on.
start_switch() {
	local out=$1

	shift
	device_run b rm -f /tmp/wiretap.log
	start_party b "$out" 'passing frames on' ip netns exec switch \
		scripts/lib/python.sh wiretap.switch "$@" port1 eth0 "$out/switch.pcap"
}

# pair COPY OUT: the programs run; the logs of both.
pair() {
	scripts/pair.sh -n 2 -d "$1" "$2/commands" "$2/logs"
}

# await SECONDS COMMAND…
await() {
	local end=$((SECONDS + $1))

	until "${@:2}"; do
		[[ $SECONDS -lt $end ]] || return
		read -rt 0.1 <> <(:) || true
	done
}

# What the user nobody runs must be where nobody may look.
neighbour_placed=no
place_neighbour() {
	if [[ $neighbour_placed == no ]]; then
		neighbour_placed=yes
		mkdir -p build
		gcc -std=gnu11 -Wall -Wextra -Werror -O2 -o build/own_qp \
			scripts/lib/wiretap/own_qp.c -libverbs
		device_run b bash -c 'rm -rf /tmp/wiretap.d && mkdir /tmp/wiretap.d &&
			cd scripts && cp --parents -t /tmp/wiretap.d \
				lib/{__init__.py,arguments.py,python.sh} \
				lib/wiretap/{__init__,neighbour,parties,roce}.py &&
			cp -t /tmp/wiretap.d ../build/own_qp'
	fi
	device_run b bash -c 'rm -f /tmp/wiretap.{log,go} && mkfifo /tmp/wiretap.go'
}

# Until the client that waits has its connection, and until it may go on. connected: what
# on its node tells that, if not its log.
connected=''
client_waits() {
	device_run b timeout 100 bash -c \
		"until ${connected:-grep -qs ^both.sides /tmp/wiretap.log}; do sleep 0.2; done"
}
client_goes_on() {
	device_run b bash -c 'echo >/tmp/wiretap.go'
}
