#!/usr/bin/env bats
#
# every_chapter.bats - what several chapters promise, each by a file of its own:
# a bad day that one of them was made ready for is tried on all of them
# shellcheck disable=SC2154 # the variables of on_device.bash

bats_require_minimum_version 1.5.0
load helpers

setup_file() {
	local chapter plain

	open_device
	for chapter in "$top"/0[1-5]_*; do
		plain=$top/build/tests/${chapter##*/}.plain
		mkdir -p "$plain"
		# make makes certificates with it.
		[[ ! -x $chapter/certs.sh ]] || cp "$chapter/certs.sh" "$plain"
		build_chapter "${chapter##*/}"
	done
	for chapter in 03_pure_verbs 04_tls_psn 05_multiclient; do
		build_patient "$chapter"
	done
}

# build_patient CHAPTER: its server, which waits for an acknowledgement not for
# half a second, but for 7.5: longer than a client that goes takes to say so.
build_patient() {
	local plain=$top/build/tests/$1.plain
	local patient=$top/build/tests/$1.patient

	copy_sources "$plain" "$patient"
	sed -i 's/^#define TIMEOUT 14$/#define TIMEOUT 18/' "$patient/qp.c"
	! cmp -s "$plain/qp.c" "$patient/qp.c"
	make -s -C "$patient" CFLAGS='-O2 -g -Werror' server
	cp "$patient/server" "$plain/patient_server"
}

teardown_file() {
	close_device
}

# in_chapters NUMBERS FUNCTION [ARGUMENT…]: the function in each of them, with
# what a server and a client are to do there as the last argument, or none.
in_chapters() {
	local chapter work

	for chapter in $1; do
		CHAPTER=$(basename "$top/$chapter"_*)
		work='write'
		[[ $chapter != 01 ]] || work=''
		echo "$CHAPTER:"
		FUNCTIONS='serves no_device' on_device a "${@:2}" $work
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
	in_chapters '01 02 03 04 05' both_families
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
	in_chapters '01 02' device_goes
}

# without_inline CALL WORK: the first CALL fails, as where a device has no inline
# data; the next one does not ask for any.
without_inline() {
	at "$1 1" fail
	start_server "${at[@]}" ./server "$2"
	serves "$2"
	[[ -s $scratch/at_call ]] || fail "the server's call has not failed"
	stop_server
	start_server ./server "$2"
	at "$1 1" fail
	run_client 0 "${at[@]}" ./client -a "$address" -n 20 -b 8
	says_nothing client.err
	[[ -s $scratch/at_call ]] || fail "the client's call has not failed"
	await "a server that is done" has_line server.log 'peer disconnected'
	stop_server
	says_nothing server.err
}

@test "02 to 05: a device that has no inline data will do" {
	in_chapters 02 without_inline rdma_create_qp
	in_chapters '03 04 05' without_inline ibv_create_qp
}

# On node a: the server's last message arrives, and what the client's device says
# to that does not.
lost_last() {
	trap 'nft delete table inet lost 2>/dev/null; clean_up' EXIT
	# After its nonce, its echo and its WRITE.
	at 'ibv_post_send 4' stop
	start_server "${at[@]}" ./patient_server -1 write
	echo "pid $server"
	await "a server that is about to send MSG_DONE" state "$server" T
	# An acknowledgement of a reliable connection: opcode 17.
	nft 'add table inet lost
		add chain inet lost in { type filter hook input priority 0; }
		add rule inet lost in udp dport 4791 @th,64,8 17 drop'
	kill -CONT "$server"
	end_of server "$server" 0
	server=''
	has_line server.log "the peer's goodbye says that it has come" ||
		fail "all was acknowledged"
	says_nothing server.err
	read -r || true
}
one_client() {
	run_client 0 ./client -a "$address" write
	says_nothing client.err
}

@test "03 to 05: a goodbye says as much as a last acknowledgement that is lost" {
	local chapter

	needs_lab
	for chapter in 03_pure_verbs 04_tls_psn 05_multiclient; do
		CHAPTER=$chapter
		echo "$chapter:"
		between_nodes lost_last one_client
	done
}
