#!/usr/bin/env bats
#
# 01_bad_input.bats - chapter 01 with addresses that are none, or on a
# machine that lacks something: one line says what, why and what to try
# shellcheck disable=SC2154,SC2016 # on_device.bash's variables; backquotes

load helpers
CHAPTER=01_send_recv

setup_file() {
	open_device
	build_chapter "$CHAPTER"
}

# failed PATTERN PROGRAM…: exit status 1, and one line, which has PATTERN.
failed() {
	local pattern=$1

	shift
	run_client 1 "$@"
	says_one client.err "$pattern"
}

wrong_address() {
	local name device

	name=$(printf 'x%.0s' {1..64}).invalid
	failed "^error: cannot look up $name: .*; give an address that" \
		./client -a "$name"
	failed "^error: cannot look up $name: .*; give an address that" \
		./server -a "$name"
	failed '^error: rdma_bind_addr: .* 198.51.100.1 an address of this' \
		./server -a 198.51.100.1
	# It names one that would do, and that one does.
	failed '^error: 127.0.0.1: a loopback address .* also this machine.s \[docs' \
		./client -a 127.0.0.1
	read -r device <"$scratch/client.err"
	device=${device##*; use }
	device=${device%%, which is*}
	failed '^error: ::1: a loopback address .* also this machine.s \[docs' ./client -a ::1
	failed '^error: 127.0.0.1: a loopback address .* also this machine.s \[docs' \
		./server -a 127.0.0.1
	start_server ./server
	address=$device serves_a_client
	stop_server
}

@test "01: addresses that do not exist, or not here; 127.0.0.1" {
	FUNCTIONS=failed on_device a wrong_address
}

port_in_use() {
	local in_use='another program has this port of .*; give another with -p'

	start_server ./server
	failed "^error: rdma_bind_addr: .*; $in_use" ./server
	failed "^error: rdma_bind_addr: .*; $in_use" ./server -a "$address"
	serves_a_client
	stop_server
	start_server ./server -a "$address"
	failed "^error: rdma_bind_addr: .*; $in_use" ./server -a "$address"
	failed "^error: rdma_bind_addr: .*; $in_use" ./server
	# Another port is nobody's.
	start_client ./server -p 20887
	await "a server on port 20887" \
		has_line client.log '^listening on port 20887\.$'
	kill -INT "$client"
	end_client 0
	stop_server
}

@test "01: a port in use" {
	FUNCTIONS=failed on_device a port_in_use
}

# limited KB PROGRAM…: as a user who may lock no more than that.
limited() {
	local limit_kb=$1 lines

	shift
	run_client 1 setpriv --reuid=65534 --regid=65534 --clear-groups \
		bash -c 'ulimit -l "$0" && exec "$@"' "$limit_kb" "$@"
	# libibverbs warns of a small limit in two lines of its own.
	mapfile -t lines <"$scratch/client.err"
	[[ ${lines[0]} == 'libibverbs: Warning: RLIMIT_MEMLOCK is '* ]] ||
		fail "libibverbs no longer warns"
	echo "${lines[*]:2}" >"$scratch/client.err"
	says_one client.err '^error: ibv_reg_mr: .*; 1024 bytes: .*`ulimit -l`'
}

little_memlock() {
	# Root may lock as much as it likes; another user has a limit.
	start_server ./server
	limited 0 ./client -a "$address"
	limited 4 ./client -a "$address"
	# With enough, the same user is served.
	run_client 0 setpriv --reuid=65534 --regid=65534 --clear-groups \
		bash -c 'ulimit -l 64 && exec "$@"' bash ./client -a "$address"
	stop_server
}

@test "01: a memlock limit that is too small" {
	[[ $device_where == lab || $EUID -eq 0 ]] || skip "this needs root"
	FUNCTIONS=limited on_device a little_memlock
}

without_device() {
	failed '^error: rdma_create_event_channel: .*`rdma link`' ./server
	failed '^error: rdma_create_event_channel: .*`rdma link`' \
		./client -a "$address"
	failed '^error: rdma_create_event_channel: .*`rdma link`' \
		./client -a 127.0.0.1
}

device_taken_away() {
	local link netdev

	# As in: link rxe0/1 state ACTIVE physical_state LINK_UP netdev eth0
	link=$(rdma link)
	netdev=${link##* netdev }
	netdev=${netdev%% *}
	link=${link#link }
	link=${link%%/*}
	# shellcheck disable=SC2064 # both are known now, and not later
	trap "rdma link add $link type rxe netdev $netdev; clean_up" EXIT
	rdma link delete "$link"
	without_device
}

@test "01: no device" {
	needs_lab
	FUNCTIONS='failed without_device' on_device a device_taken_away
	# It is back for the tests that follow.
	device_run a rdma link | grep -q 'ACTIVE.*netdev'
}

@test "01: a machine without /dev/infiniband" {
	[[ ! -e /dev/infiniband/rdma_cm ]] || skip "this host has it"
	device_where=host
	FUNCTIONS=failed on_device a without_device
}
