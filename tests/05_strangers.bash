# 05_strangers.bash - chapter 05's server and those who have not said who they are
#
# Sourced where the device is, after on_device.bash and 05_clients.bash.
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2016 # set by on_device.bash; for another shell

# strangers COUNT KIND…: they connect, and stay: see strangers.py.
strangers() {
	coproc STRANGERS {
		exec python3 "${shim%/build/*}/tests/strangers.py" \
			"$address" 4433 "$@"
	}
	strangers=$STRANGERS_PID
	strangers_in=${STRANGERS[1]}
	read -r <&"${STRANGERS[0]}" || fail "the strangers are not there"
}
strangers_leave() {
	exec {strangers_in}>&-
	end_of strangers "$strangers" 0
}

# shaking COUNT: so many have not said who they are.
shaking() {
	figures 'connected: '
	grep -F '[figures] connected: ' "$scratch/server.log" | tail -n 1 |
		grep -qx "\[figures\] connected: 0 of [0-9]*; shaking hands: $1"
}

# stalled COUNT: COUNT of them are silent, some in the middle of the handshake.
stalled() {
	# As patient as can be: none of them is over before the test is.
	start_server ./server -t 3600 write
	strangers $(($1 - 20)) silent 10 part 10 hello
	await "$1 handshakes" shaking "$1"
	one_is_served
	are_served -n 10 -j 10
	await "an end of all others" shaking "$1"
	# They are given up as soon as the server is asked to stop.
	stop_server
	has_lines server.err 'TLS handshake: given up' "$1" ||
		fail "not all of them were given up"
	strangers_leave
}

# one_address: 2,048 of it have half of the room, and who comes from another finds some.
# Afterwards, those of it are served as well.
one_address() {
	start_server ./server -t 3600 write
	strangers 2048 part
	await "1024 handshakes" shaking 1024
	await "1024 that are refused" has_lines server.err \
		'as many strangers as one address may have at a time (1024, see -X)' 1024
	# The same machine has an address of IPv6, too.
	run_client 0 ./client -a 2001:db8::1 -t 60 write
	says_nothing client.err
	run_client 1 ./client -a "$address" -t 60 write
	strangers_leave
	await "an end of all handshakes" shaking 0
	one_is_served
	are_served -n 10 -j 10
	stop_server
}

# cost WHAT KB: what the server has more than before, which is at most KB.
cost() {
	local kb=$(($(memory_kb "$server") - before))

	[[ $kb -le $2 ]] || fail "$1 cost $kb kB"
	echo "$1: $kb kB"
}

# cheap: those who say nothing, those who begin a ClientHello and fall silent, and those
# who announce one that is far too long, or would be asked for a second one.
cheap() {
	local before

	start_server ./server -t 3600 write
	one_is_served
	before=$(memory_kb "$server")
	strangers 1024 silent
	await "1024 that wait" shaking 1024
	cost "1024 strangers that say nothing" 20480
	strangers_leave
	await "an end of all handshakes" shaking 0
	strangers 1024 part
	await "1024 that wait" shaking 1024
	cost "1024 strangers of nine bytes" 20480
	strangers_leave
	await "an end of all handshakes" shaking 0
	strangers 1024 long
	await "1024 that are refused" has_lines server.err \
		'announces a ClientHello of 131072 bytes in a record of 4' 1024
	cost "1024 strangers that announce 128 KiB" 20480
	strangers_leave
	strangers 1024 again
	await "1024 that are not asked again" has_lines server.err \
		'is not asked for a second ClientHello' 1024
	cost "1024 strangers whose second ClientHello is long" 20480
	one_is_served
	strangers_leave
	stop_server
}

# begun: those whose handshake has begun cost what OpenSSL holds for it, and those in the
# middle of their certificates 20 kB more at the most: STRANGER_KB of admission.c.
begun() {
	local before

	start_server ./server -t 3600 write
	one_is_served
	before=$(memory_kb "$server")
	strangers 1000 hello
	await "1000 handshakes" shaking 1000
	cost "1000 strangers that have said hello" $((80 * 1000))
	strangers_leave
	await "an end of all handshakes" shaking 0
	strangers 1000 chain
	await "1000 handshakes" shaking 1000
	cost "1000 strangers in the middle of their certificates" $((96 * 1000))
	strangers_leave
	stop_server
}

# two_addresses: one fills what it may have of a small room, and the other is served.
two_addresses() {
	local room half

	start_server bash -c 'ulimit -n 256 && exec ./server -t 3600 write'
	room=$(sed -n 's/.* more descriptors: room for .* and \([0-9]*\) strangers.*/\1/p' \
		"$scratch/server.log")
	half=$((room / 2))
	[[ $half -ge 4 && $half -lt 128 ]] || fail "room for $room strangers"
	strangers $((room + 10)) silent@127.0.0.2
	run_client 0 ./client -a "$address" -t 30 write
	await "others that are refused" has_lines server.err \
		"as many strangers as one address may have at a time ($half, see -X)" \
		$((room + 10 - half))
	shaking "$half" || fail "not $half are there"
	stop_server
	strangers_leave
}

# few_strangers: where there is memory for eight, the ninth waits in the backlog.
few_strangers() {
	echo "MemAvailable: $((8 * 96 * 4)) kB" >"$scratch/meminfo"
	start_server unshare -m bash -c 'mount --bind "$0" /proc/meminfo &&
		exec ./server -t 3600 write' "$scratch/meminfo"
	# Four of each address.
	strangers 4 silent 16 silent@127.0.0.2
	await "twelve that wait" backlog 12
	shaking 8 || fail "not eight are there"
	strangers_leave
	await "an end of all handshakes" shaking 0
	one_is_served
	stop_server
}
backlog() {
	[[ $(ss -Htln 'sport = :4433') == LISTEN*([[:space:]])$1[[:space:]]* ]]
}
