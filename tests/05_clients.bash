# 05_clients.bash - what tests/05_multiclient.bats and its long brother do
#
# To be loaded by bats after helpers.bash. The functions in the second half run
# where the device is: see on_device.bash.
# shellcheck shell=bash
# shellcheck disable=SC2154 # set by helpers.bash and on_device.bash

# build_05 VARIANT FLAGS: the chapter in build/tests/, all with one folder of
# certificates.
build_05() {
	local dir=$top/build/tests/05_multiclient.$1

	chapter_update "$top/05_multiclient" "$dir"
	cp "$top"/05_multiclient/*.sh "$dir"
	make -s -j2 -C "$dir" CFLAGS="${2//[$'\n\t']/ } -Werror"
	build_shim
}

# build_exercise NAME: the chapter with the exercise's solution.
build_exercise() {
	local dir=$top/build/tests/05_multiclient.$1

	rm -rf "$dir"
	chapter_update "$top/05_multiclient" "$dir"
	patch -f -s -d "$dir" -p1 <"$top/05_multiclient/exercises/$1.patch"
	make -s -j2 -C "$dir" CFLAGS='-O1 -g -Werror'
}

# clients_on_device FUNCTION [ARGUMENT…]: runs it on node a in the build
# $VARIANT (default: plain).
clients_on_device() {
	local build=$top/build/tests/05_multiclient.${VARIANT:-plain}

	device_run a timeout --foreground -k 9 "${LIMIT:-300}" bash -c "
		set -euo pipefail
		cd '$build'
		build='$build' shim='$top/build/tests/at_call.so'
		test_limit='${LIMIT:-300}'
		address='$(device_address a)'
		export TSAN_OPTIONS='suppressions=$top/tests/05_tsan.txt'
		source '$top/tests/on_device.bash'
		source '$top/tests/05_clients.bash'
		source '$top/tests/05_limits.bash'
		source '$top/tests/05_strangers.bash'
		source '$top/tests/05_retries.bash'
		$(printf '%q ' "$@")" </dev/null >"$BATS_TEST_TMPDIR/said" || {
		cat "$BATS_TEST_TMPDIR/said"
		return 1
	}
}

# What the last function said last, in the report of a test that passed.
tell() {
	tail -n "${1:-1}" "$BATS_TEST_TMPDIR/said" | sed 's/^/# /' >&3
}

# --- the functions below run on node a

# lines FILE TEXT: how many lines have it. The logs are long: not in bash.
lines() { grep -cF -e "$2" "$scratch/$1" || true; }
has_lines() { [[ $(lines "$1" "$2") -ge $3 ]]; }
ended() { ! is_running "$1"; }

# All clients of client.log hold their connections, or one has given up.
all_hold() {
	has_lines client.log ': holding the connection.' "$1" ||
		has_lines client.err 'error: ' 1
}

# figures TEXT: asks the server for figures, which must have TEXT.
figures() {
	local before

	before=$(lines server.log '[figures] objects held')
	kill -USR1 "$server"
	await "the figures" has_lines server.log '[figures] objects held' \
		$((before + 1))
	grep -F '[figures]' "$scratch/server.log" | tail -n 4 |
		grep -qF "$1" || fail "the figures do not say: $1"
}
# Nobody is connected, and nothing is held for anybody. A client ends a little
# earlier than what the server does for it.
idle() {
	figures 'connected: '
	grep -F '[figures]' "$scratch/server.log" | tail -n 4 >"$scratch/figures"
	grep -qF 'connected: 0 of ' "$scratch/figures" &&
		grep -qF 'objects held: 0 PDs, 0 CQs, 0 QPs, 0 MRs' \
			"$scratch/figures"
}

objects() { rdma resource show | sed 's/cm_id.*mr/mr/'; }
# No process holds any: what the kernel has for itself is not ours.
nothing_is_left() {
	local kind held

	for kind in pd cq qp mr; do
		held=$(rdma resource show "$kind" | grep -w pid) || continue
		fail "objects are left: $held"
	done
}
descriptors() { find "/proc/$1/fd" -mindepth 1 | wc -l; }
# VmRSS of a kernel that counts for each thread may be off by many pages.
memory_kb() {
	sed -n 's/^Rss: *\([0-9]*\) kB$/\1/p' "/proc/$1/smaps_rollup"
}

one_is_served() {
	run_client 0 ./client -a "$address" -t 60 "$@" write
	says_nothing client.err
}
# are_served OPTION…: the same with those of load/.
are_served() {
	run_client 0 ./load/load -a "$address" -t 60 "$@" write
	says_nothing client.err
}

# repeats: how many of the PSNs in server.log were there before.
repeats() {
	sed -n 's/.*Local PSN: \(.*\), Remote PSN: \(.*\)$/\1\n\2/p' \
		"$scratch/server.log" | sort | uniq -d | wc -l
}

# many_at_once MANY
many_at_once() {
	local many=$1 empty before full begin=$SECONDS

	empty=$(objects)
	start_server ./server -t 600 -b 1024 write
	one_is_served
	has_lines server.log 'Opened shared RDMA device: ' 1 ||
		fail "the server does not say which device it has opened"
	before=$(memory_kb "$server")
	start_client ./load/load -t 600 -a "$address" -n "$many" -w 3600 write
	await "$many clients that hold their connections" all_hold "$many"
	says_nothing client.err
	figures "connected: $many of 1024;"
	figures "objects held: $many PDs, $many CQs, $many QPs, $((3 * many)) MRs"
	full=$(memory_kb "$server")
	begin=$((SECONDS - begin))
	kill -TERM "$client"
	end_client 0
	await "a server that holds nothing" idle
	figures "served: $((many + 1)); refused: 0; failed: 0"
	stop_server
	says_nothing server.err
	has_lines client.log ': 1024 bytes verified.' "$many" ||
		fail "not every client has verified its bytes"
	has_lines server.log ': 1024 bytes verified.' "$many" ||
		fail "the server has not verified every client's bytes"
	[[ $(lines server.log 'Opened shared RDMA device: ') -eq 1 ]] ||
		fail "the server has opened its device more than once"
	[[ $(objects) == "$empty" ]] || fail "objects are left: $(objects)"
	echo "$many clients at a time: $(((full - before) / many)) kB of the" \
		"server's memory each; $(repeats) repeats among" \
		"$((2 * many + 2)) PSNs; $begin s"
}

# in_sequence WARM COUNT: after the first WARM clients, nothing may grow.
in_sequence() {
	local before after memory fds

	start_server ./server -t 60 write
	are_served -N "$1"
	await "an idle server" idle
	before=$(objects) memory=$(memory_kb "$server")
	fds=$(descriptors "$server")
	are_served -N "$2"
	await "an idle server" idle
	after=$(objects)
	[[ $after == "$before" ]] || fail "objects: $before; then: $after"
	[[ $(descriptors "$server") -eq $fds ]] || fail "descriptors are left"
	memory=$(($(memory_kb "$server") - memory))
	[[ $memory -lt 512 ]] || fail "$memory kB more after $2 clients"
	figures "served: $(($1 + $2)); refused: 0; failed: 0"
	stop_server
	says_nothing server.err
	echo "$(tail -n 1 "$scratch/client.log"); memory +$memory kB"
}

full_server() {
	local retrying

	start_server ./server -t 60 -m 2 write
	start_client ./load/load -t 60 -a "$address" -n 2 -w 3600 write
	await "two clients that hold their connections" all_hold 2
	says_nothing client.err
	./client -t 60 -a "$address" write >"$scratch/third.log" \
		2>"$scratch/third.err" && fail "a third client was served"
	says_one third.err 'server full \(2 of 2\)'
	# Nothing was made for it at either end.
	[[ $(wc -l <"$scratch/third.log") -eq 1 ]] ||
		fail "the third client did more"
	figures 'refused: 1; failed: 0'
	./client -t 60 -a "$address" -r 1000 write >"$scratch/third.log" \
		2>"$scratch/third.err" &
	retrying=$!
	await "a third try" has_lines third.log 'trying again in ' 3
	kill -TERM "$client"
	end_client 0
	end_of 'client that tries again' "$retrying" 0
	[[ $(lines third.log 'trying again in ') -eq \
		$(lines third.err 'error: server full (2 of 2)') ]] ||
		fail "not each refusal is said once"
	await "an idle server" idle
	# One that is asked to stop while it waits does.
	start_client ./load/load -t 60 -a "$address" -n 2 -w 3600 write
	await "two clients that hold their connections" all_hold 2
	: >"$scratch/third.log"
	./client -t 60 -a "$address" -r 1000 write >"$scratch/third.log" \
		2>"$scratch/third.err" &
	retrying=$!
	await "a third try" has_lines third.log 'trying again in ' 3
	# Before that: it may be in the middle of its next try, and then the
	# server misses it in the handshake, as it sends the refusal, or, if the
	# others have left by then, as it waits for its parameters.
	says_nothing server.err
	kill -TERM "$retrying"
	end_of 'client that tries again' "$retrying" 1
	kill -TERM "$client"
	end_client 0
	stop_server
	[[ ! -s $scratch/server.err ]] ||
		says_one server.err \
			"(TLS handshake|sending to the peer|the peer's parameters): "
}

# resets COUNT: COUNT connections are reset before the server can take them.
resets() {
	start_server ./server write
	kill -STOP "$server"
	await "a stopped server" state "$server" T
	python3 -c 'import socket, struct, sys
for _ in range(int(sys.argv[2])):
    s = socket.create_connection((sys.argv[1], 4433))
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    s.close()' "$address" "$1"
	kill -CONT "$server"
	# A second for each of them would be longer than this waits.
	run_client 0 ./client -a "$address" -t $(($1 / 2)) write
	says_nothing client.err
	stop_server
	[[ $(lines server.err 'TLS handshake: ') -eq $1 ]] ||
		fail "not all of them are named"
}

# killed TIMES STEP: a client is killed at its first call, its STEP + 1st and so
# on, from the beginning again after the last, TIMES in all.
killed() {
	local n=1 times=0 rounds=0 status

	start_server ./server -t 60 write
	one_is_served
	while [[ $times -lt $1 ]]; do
		at "$n" kill
		status=0
		"${at[@]}" ./client -a "$address" write >"$scratch/victim.log" \
			2>&1 || status=$?
		if [[ $status -eq 137 ]]; then
			times=$((times + 1))
			n=$((n + $2))
			one_is_served
			continue
		fi
		# There was no such call any more.
		[[ $status -eq 0 && $n -gt $2 ]] || fail "killed, but: $status"
		rounds=$((rounds + 1))
		n=$((1 + rounds % $2))
	done
	await "a server that holds nothing" idle
	figures 'connected: 0 of 1024'
	stop_server
	nothing_is_left
	echo "killed $times times, $rounds times through all steps;" \
		"$(lines server.err error:) were failures to the server"
}
