#!/usr/bin/env bats
#
# every_chapter.bats - what several chapters promise, each by a file of its own:
# a bad day that one of them was made ready for is tried on all of them
# shellcheck disable=SC2154 # the variables of on_device.bash

load helpers

setup_file() {
	local chapter plain

	open_device
	for chapter in $(asked_where "$in_pairs"); do
		plain=$top/build/tests/$chapter.plain
		mkdir -p "$plain"
		# make makes certificates with it.
		[[ ! -x $top/$chapter/certs.sh ]] || cp "$top/$chapter/certs.sh" "$plain"
		build_chapter "$chapter"
	done
	for chapter in $(asked_where "$by_hand"); do
		build_patient "$chapter"
	done
}

# build_patient CHAPTER: its server, which waits for an acknowledgement not for
# half a second, but for 7.5: longer than a client that goes takes to say so.
build_patient() {
	local plain=$top/build/tests/$1.plain
	local patient=$top/build/tests/$1.patient qp=qp.c

	chapter_update "$plain" "$patient"
	[[ -e $patient/$qp ]] || qp=carried/qp.c
	sed -i 's/^#define TIMEOUT 14$/#define TIMEOUT 18/' "$patient/$qp"
	! cmp -s "$plain/$qp" "$patient/$qp"
	make -s -C "$patient" CFLAGS='-O2 -g -Werror' server
	cp "$patient/server" "$plain/patient_server"
}

# in_chapters TEST FUNCTION [ARGUMENT…]: the function in each of them, with
# what a server and a client are to do there as the last argument, or none.
in_chapters() {
	local work

	for CHAPTER in $(asked_where "$1"); do
		work='write'
		[[ $CHAPTER != 01_* ]] || work=''
		echo "$CHAPTER:"
		FUNCTIONS='serves no_device flags_of mismatch' on_device a "${@:2}" $work
	done
}

# --- the functions below run on node a

# serves [ARGUMENT…]: a client is served, and neither end says an error.
serves() {
	run_client 0 ./client -a "$address" "$@"
	says_nothing client.err
	await "a server that is done" has_line server.log 'peer disconnected'
	says_nothing server.err
}

# Where IPv6 sockets take no IPv4 unless told to.
both_families() {
	trap 'sysctl -qw net.ipv6.bindv6only=0; clean_up' EXIT
	sysctl -qw net.ipv6.bindv6only=1
	start_server ./server "$@"
	serves "$@"
	stop_server
}

@test "01 to 05: a server on all addresses takes IPv4, whatever bindv6only says" {
	needs_lab
	in_chapters "$in_pairs" both_families
}

# Bound to an address, a server holds the device that has it.
device_goes() {
	# While the server holds it, it is still there.
	trap 'clean_up; no_device && "$build/../../../scripts/setup_rxe.sh" \
		-i eth0' EXIT
	start_server ./server -a "$address" "$@"
	serves "$@"
	rdma link delete rxe0 &
	soon no_device || fail "the server does not let the device go"
	end_of server "$server" 1
	server=''
	says_one server.err 'got RDMA_CM_EVENT_DEVICE_REMOVAL'
	wait $!
}
no_device() { [[ ! -e /sys/class/infiniband/rxe0 ]]; }

@test "01 and 02: the device is taken away: the server lets it go, and ends" {
	needs_lab
	# Where RDS is built in, it holds the device, too.
	full_size in_chapters "$with_cm && $in_pairs" device_goes
}

# One operation moves the whole memory: the most that the port takes is moved, and
# who asks for a byte more is told so before anything is posted.
whole_memory() {
	local most refused

	most=$(ibv_devinfo -v | awk '/max_msg_sz:/ { print $2; exit }')
	most=$((most < 67108864 ? most : 67108864))
	start_server ./server -1 -t 100 -b "$most" "$1"
	run_client 0 ./client -t 100 -a "$address" -b "$most" "$1"
	end_of server "$server" 0
	server=''
	says_nothing client.err
	says_nothing server.err
	has_line client.log "$most bytes verified\.\$" ||
		fail "the client has not verified $most bytes"
	# A card takes all that -b can ask for.
	[[ $most -lt 67108864 ]] || return 0
	refused="-b $((most + 1)): the device writes or reads at most $most bytes"
	start_server ./server -1 -b "$((most + 1))" "$1"
	run_client 1 ./client -a "$address" "$1"
	end_of server "$server" 1
	server=''
	says_one server.err "$refused at a time; give both ends -b $most or less"
	start_server ./server "$1"
	at 'ibv_post_recv 1' fail
	run_client 1 "${at[@]}" ./client -a "$address" -b "$((most + 1))" "$1"
	says_one client.err "$refused"
	[[ ! -s $scratch/at_call ]] || fail "the client has posted a receive"
	run_client 0 ./client -a "$address" "$1"
	stop_server
}

@test "02 to 05: -b: what the port cannot take in one request is refused in time" {
	in_chapters "$with_cm && $in_pairs && chapter !~ /^01/" whole_memory
	in_chapters "$by_hand" whole_memory
}

# On node a: the server's last message arrives, and what the client's device says
# to that does not, until it is asked again.
lost_one() { nft list table inet lost | grep -q 'counter packets [1-9]'; }
lost_last() {
	trap 'nft delete table inet lost 2>/dev/null || true; clean_up' EXIT
	# After its WRITE.
	at 'ibv_post_send 2' stop
	start_server "${at[@]}" ./patient_server -1 write
	echo "pid $server"
	await "a server that is about to send MSG_DONE" state "$server" T
	# An acknowledgement of a reliable connection: opcode 17.
	nft 'add table inet lost
		add chain inet lost in { type filter hook input priority 0; }
		add rule inet lost in udp dport 4791 @th,64,8 17 counter drop'
	kill -CONT "$server"
	await "an acknowledgement that is lost" lost_one
	nft delete table inet lost
	end_of server "$server" 0
	server=''
	says_nothing server.err
	cat "$scratch/server.log"
	read -r || true
}
one_client() {
	run_client 0 ./client -a "$address" write
	says_nothing client.err
	cat "$scratch/client.log"
}

@test "03 to 05: a last acknowledgement that is lost is asked for again: the client waits" {
	local chapter expected run

	needs_lab
	for chapter in $(asked_where "$by_hand"); do
		CHAPTER=$chapter
		echo "$chapter:"
		FUNCTIONS=lost_one between_nodes lost_last one_client
		# It is the story of the logged run, but for what build_patient()
		# has changed.
		expected=$top/$chapter/expected/write run=$BATS_TEST_TMPDIR/$chapter
		mkdir "$run"
		echo "${said/timeout=18/timeout=14}" >"$run/server.log"
		echo "$output" >"$run/client.log"
		cp "$expected/status.log" "$run"
		"$top/scripts/compare_logs.sh" "$run" "$expected"
	done
}

# Given by hand, at both ends of the range: 0 is a PSN like any other.
bounds_of_psn() {
	local pair server_psn client_psn

	for pair in 0:0xffffff 0xffffff:0; do
		server_psn=${pair%:*} client_psn=${pair#*:}
		start_server ./server -1 -P "$server_psn" "$1"
		run_client 0 ./client -a "$address" -P "$client_psn" "$1"
		end_of server "$server" 0
		server=''
		printf -v server_psn '0x%06x' "$server_psn"
		printf -v client_psn '0x%06x' "$client_psn"
		has_line server.log "sq_psn=$server_psn," ||
			fail "the server's PSN is not $server_psn"
		has_line client.log "rq_psn=$server_psn," ||
			fail "the client does not expect $server_psn"
		has_line client.log "sq_psn=$client_psn," ||
			fail "the client's PSN is not $client_psn"
		has_line server.log "rq_psn=$client_psn," ||
			fail "the server does not expect $client_psn"
	done
}

@test "03 to 05: a PSN given by hand, 0 as well, is that of the queue pair" {
	in_chapters "$by_hand" bounds_of_psn
}

# flags_of FILE: sets flags, what the queue pair there lets its peer do.
flags_of() {
	local line

	flags=''
	while IFS= read -r line; do
		[[ ! $line =~ qp_access_flags=(0x[0-9a-f]+) ]] ||
			flags=$((BASH_REMATCH[1]))
	done <"$scratch/$1"
	[[ -n $flags ]] || fail "$1 does not say what the peer may do"
}

# Remote write is 2, remote read 4 and atomic 8: no more than the mode needs.
least_access() {
	local mode end wanted

	for mode in write read; do
		wanted=2
		[[ $mode == write ]] || wanted=4
		start_server ./server -1 "$mode"
		run_client 0 ./client -a "$address" "$mode"
		end_of server "$server" 0
		server=''
		for end in server client; do
			flags_of "$end.log"
			[[ $((flags & 14)) -eq $wanted ]] ||
				fail "$end: $flags allows not only $mode"
		done
	done
}

@test "03 to 05: a queue pair lets its peer do what the mode needs, and no more" {
	in_chapters "$by_hand" least_access
}

# The two find out that their modes differ when all receives are posted.
mismatch() {
	start_client "${@:3}" ./client -a "$address" "$2"
	await "a $1 that is about to give memory back" state "${!1}" T
	rdma resource show qp | grep " pid ${!1} " >"$scratch/qp" || true
	! grep -qv ' state ERR ' "$scratch/qp" ||
		fail "the device may still use that memory: $(<"$scratch/qp")"
	kill -CONT "${!1}"
	end_client 1
}

# While a queue pair is not in ERR, the device may write to what is posted.
quiet_before() {
	at 'ibv_dereg_mr 1' stop
	start_server "${at[@]}" ./server -t 20 write
	mismatch server read
	stop_server
	start_server ./server write
	at 'ibv_dereg_mr 1' stop
	mismatch client read "${at[@]}"
	stop_server
}

@test "03 to 05: no memory is taken from a queue pair that may still write to it" {
	in_chapters "$by_hand" quiet_before
}

# killed_at STEP [WORK]: a client is killed at its first call, its STEP + 1st and
# so on, until there is no such call any more; whoever comes then is served.
killed_at() {
	local step=$1 n=1 times=0

	shift
	start_server ./server -t 20 "$@"
	while :; do
		at "$n" kill
		start_client "${at[@]}" ./client -a "$address" "$@"
		ended=0
		wait "$client" || ended=$?
		client=''
		[[ $ended -eq 137 ]] || break
		times=$((times + 1))
		n=$((n + step))
		run_client 0 ./client -a "$address" "$@"
		says_nothing client.err
	done
	[[ $ended -eq 0 && $times -ge 4 ]] || fail "killed $times times: $ended"
	await "a server that holds no queue pair" no_queue_pair
	stop_server
}

@test "01 to 05: killed with -9 at one step after another, and the next is served" {
	in_chapters 'chapter ~ /^01/' killed_at 4
	in_chapters "$in_pairs && chapter !~ /^01/" killed_at 9
}
