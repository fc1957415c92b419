#!/usr/bin/env bats
#
# 08_event_loop.bats - chapter 08: a crowd in one thread, clients that
# do not keep to the protocol, and the end of a server that has many
# shellcheck disable=SC2154 # the variables of on_device.bash

load helpers
load says
CHAPTER=08_event_loop

setup_file() {
	open_device
	build_chapter "$CHAPTER"
	build_chapter 02_write_read
	build_flood "$top/build/tests/$CHAPTER.flood"
	build_preloaded tests/hostile_07 scripts/lib/calls
	build_slow "$top/build/tests/$CHAPTER.slow"
	build_forgetful "$top/build/tests/$CHAPTER.forgetful"
	cc -std=gnu11 -Wall -Wextra -Werror -O2 -o "$builds/peer_08" \
		"$top/tests/peer_08.c" -lrdmacm -libverbs
}

# A build whose server works a millisecond for each request.
build_slow() {
	chapter_update "$top/$CHAPTER" "$1"
	edit "$1/plumbing/checksum.c" -e '1i #include <time.h>' \
		-e 's/^	return sum;/	struct timespec from, now;\
\
	clock_gettime(CLOCK_MONOTONIC, \&from);\
	do\
		clock_gettime(CLOCK_MONOTONIC, \&now);\
	while ((now.tv_sec - from.tv_sec) * 1000000000 + now.tv_nsec -\
		       from.tv_nsec < 1000000);\
&/'
	make -s -C "$1" server
}

# A build whose server does not hear of every fifth of 1,500 requests: as if the device
# had taken a receive, and then forgotten it.
build_forgetful() {
	chapter_update "$top/$CHAPTER" "$1"
	edit "$1/guests.c" 's/^	if (work == WORK_RECEIVE)$/	static unsigned int come;\
\
	if (work == WORK_RECEIVE \&\& wc->byte_len > 900 \&\& ++come % 5 == 0 \&\&\
	    come <= 1500)\
		return;\
&/'
	make -s -C "$1" server
}

# A build whose client posts each request thirty times, takes no answer, and stays.
build_flood() {
	chapter_update "$top/$CHAPTER" "$1"
	edit "$1/carried/data.h" 's/DATA_SENDS 2/DATA_SENDS 64/'
	edit "$1/ask.c" 's/^	if (ask_send.*/&\
		return -1;\
	for (int i = 1; i < 30; i++)\
		if (ask_send(data, writes))\
			return -1;\
	if (wait_readable(-1, -1, -1, wait_deadline(3000)) < 0)/'
	make -s -C "$1" client
}

# --- the functions below run on node a

# gone COUNT: so many clients have come, and the server has freed as many.
gone() {
	count_lines server.log 'received connection request\.$'
	[[ $count -eq $1 ]] || return 1
	count_lines server.log '^Client [0-9]+: \[LOG\] closing connection'
	[[ $count -eq $1 ]]
}

# crowd COUNT ARGUMENT…: so many connections, all served.
crowd() {
	run_client 0 ./load/load -n "$1" -a "$address" "${@:2}"
	says_nothing client.err
	has_line client.log \
		"^$1 connections: $1 served, 0 refused, 0 failed\\.\$" ||
		fail "not all were served"
}

crowds() {
	local bytes

	for bytes in 64 1000 4096; do
		start_server ./server -v -b "$bytes"
		crowd 60 -b "$bytes" -N 5 sum
		crowd 40 -b "$bytes" -N 5 write
		crowd 1 -b "$bytes" -N 1 write
		await "a server that has freed all" gone 101
		[[ $(ls "/proc/$server/task" | wc -l) -eq 1 ]] ||
			fail "it has more than one thread"
		says_nothing server.err
		stop_server
	done
	! rdma resource show qp | grep -q ' pid ' || fail "a queue pair is left"
}

@test "08: crowds with the smallest, an odd and the largest request" {
	FUNCTIONS='gone crowd' on_device a crowds
}

grows() {
	# It stops at its first answer: until then, each client has had three messages
	# and writes. All of them ask meanwhile, and take 240 of 256 receives.
	at 'ibv_post_send 721' stop
	start_server "${at[@]}" ./server -v
	start_client ./load/load -n 240 -q 240 -N 1 -a "$address" sum
	await "a server that stands" state "$server" T
	await "a client that has asked" state "$client" S
	kill -CONT "$server"
	end_client 0
	has_line server.log '^few receives are left of 256: posting more\.$' ||
		fail "the SRQ never told that it was about to run dry"
	await "a server that has freed all" gone 240
	says_nothing server.err
	stop_server
}

@test "08: the SRQ tells when few receives are left, and gets more" {
	FUNCTIONS='gone crowd' on_device a grows
}

# More receives are more locked memory: here, for no more than one chunk.
little_memlock() {
	start_server setpriv --reuid=65534 --regid=65534 --clear-groups \
		bash -c 'ulimit -l 2000 && exec "$@"' bash ./server -v
	start_client ./load/load -n 240 -q 240 -N 200 -t 30 -a "$address" sum
	await "connections" has_line client.log '^240 connections in'
	# While it stands, all of them ask: few of its 256 receives are left.
	kill -STOP "$server"
	await "a client that has asked" state "$client" S
	kill -CONT "$server"
	await "an error of the server's" has_line server.err \
		'^error: ibv_reg_mr: .*`ulimit -l`'
	# Some of these may find no receive for too long; the server goes on.
	ended=0
	wait "$client" || ended=$?
	client=''
	crowd 5 write
	await "a server that has freed all" gone 245
	stop_server
}

@test "08: a server that may lock no memory for more receives makes do with those it has" {
	[[ $device_where == lab || $EUID -eq 0 ]] || skip "this needs root"
	FUNCTIONS='gone crowd' on_device a little_memlock
}

older_client() {
	start_server ./server -v
	run_client 0 "../02_write_read.plain/client" -a "$address" -p 22228 write
	says_nothing client.err
	await "a server that has freed it" gone 1
	has_line server.log '^Client 1: peer disconnected after 0 requests' ||
		fail "the server does not say how it left"
	says_nothing server.err
	stop_server
}

@test "08: the client of chapter 02 is served, too" {
	FUNCTIONS=gone on_device a older_client
}

# refuses REGEX HOSTILE: the server says in one line why it ends the connection.
refuses() {
	local errors before

	count_lines server.err ''
	errors=$count
	count_lines server.log 'received connection request'
	before=$count
	start_client env "LD_PRELOAD=$build/../hostile_07.so" "HOSTILE=$2" \
		./client -t 5 -a "$address" write
	end_client 1
	await "a server that has freed it" gone $((before + 1))
	count_lines server.err ''
	[[ $count -eq $((errors + 1)) ]] || fail "$2: not one line"
	[[ $(tail -n 1 "$scratch/server.err") =~ ^'error: Client '[0-9]*': '.*$1 ]] ||
		fail "$2: the server does not say: $1"
}

hostile_requests() {
	start_server ./server -v
	refuses 'does not begin with RDMA' 'RDMA 3 1 0=88'
	refuses 'speaks version 2, this program version 1' 'RDMA 3 1 4=2'
	refuses 'unknown type 9$' 'RDMA 3 1 5=9'
	refuses 'MSG_REQUEST has the unknown mode 7$' 'RDMA 3 1 6=7'
	refuses 'MSG_REQUEST has a value where' 'RDMA 3 1 8=1'
	refuses 'request has 0 bytes' 'RDMA 3 1 22=0'
	refuses 'request has 4294902784 bytes' 'RDMA 3 1 20=255 21=255'
	refuses '1000 bytes follow .* instead of 1024;' 'RDMA 3 1 size=1024'
	refuses '1024 bytes follow .* instead of 1040;' 'RDMA 3 1 23=16'
	# Half a request: the header has only begun.
	refuses 'a message of 24 bytes|0 bytes follow' 'RDMA 3 1 size=24'
	refuses 'MSG_DONE is not legal|bytes follow|a message of type 2' \
		'RDMA 3 1 5=2 22=0 6=0'
	refuses 'is not legal in|runs write' 'RDMA 1 1 6=2'
	refuses '1024 bytes of memory and the peer 256;' 'RDMA 1 1 22=1'
	refuses 'a completion with opcode 129' 'RDMA 3 1 imm=4'
	crowd 5 write
	stop_server
}

@test "08: malformed requests are refused by name, and others are served" {
	FUNCTIONS='gone refuses crowd' on_device a hostile_requests
}

# A MSG_REQUEST of 64 bytes in the place of the client's MSG_MR: no memory is lent for
# it, and nothing is sent, nor written to address 0.
request_first() {
	local zero='8=0 9=0 10=0 11=0 12=0 13=0 14=0 15=0 16=0 17=0 18=0 19=0 22=0'

	start_server env "CALLS=$scratch/trace" "LD_PRELOAD=$build/../calls.so" \
		./server -v -b 64
	refuses 'a message of type 3 where MSG_MR was expected$' \
		"RDMA 1 1 5=3 6=1 $zero 23=64 size=88"
	refuses 'a message of type 2 where MSG_MR was expected$' \
		"RDMA 1 1 5=2 6=0 $zero"
	! grep -E '^reg_mr .*access=0x3$|^post_send' "$scratch/trace" ||
		fail "memory was lent, or something was posted"
	crowd 5 -b 64 write
	stop_server
}

@test "08: a request in the place of a client's MSG_MR: refused, and nothing is lent" {
	FUNCTIONS='gone refuses crowd' on_device a request_first
}

# The same a moment later: the server has the MSG_MR, and waits for the MSG_DONE.
request_for_done() {
	start_server ./server -v
	refuses 'a message of type 3 in the middle of a transfer$' \
		'RDMA 2 1 5=3 6=1 23=8 size=32'
	crowd 5 write
	stop_server
}

@test "08: a request in the place of a client's MSG_DONE: refused by its type" {
	FUNCTIONS='gone refuses crowd' on_device a request_for_done
}

floods() {
	local flood

	start_server ./server -v
	../08_event_loop.flood/client -t 5 -a "$address" sum \
		>"$scratch/flood.log" 2>&1 &
	flood=$!
	await "an error of the server's" has_line server.err \
		'^error: Client 1: (15 requests, of which no answer was taken; at most 7|send: status 13 )'
	is_running "$flood" || fail "the client that floods has gone by itself"
	crowd 20 write
	end_of "client that floods" "$flood" 1
	await "a server that has freed all" gone 21
	stop_server
}

@test "08: a client that floods is sent away, and the others are served" {
	FUNCTIONS='gone crowd' on_device a floods
}

silent_clients() {
	local silent

	start_server ./server -v -t 2 -w 3
	at 'ibv_post_send 1' stop
	start_client "${at[@]}" ./client -t 30 -a "$address" write
	silent=$client
	await "a client that stops" state "$silent" T
	crowd 10 write
	await "a deadline" has_line server.err \
		'^error: Client 1: the transfer: nothing came within 2 s;.* -t '
	kill -KILL "$silent"
	end_of client "$silent" 137
	# It has had its answers, and stays.
	run_client 1 ./load/load -n 2 -w 20 -t 30 -a "$address" sum
	await "a server that has freed all" gone 13
	count_lines server.err ': a request: nothing came within 3 s;'
	[[ $count -eq 2 ]] || fail "$count clients were silent for too long"
	stop_server
}

@test "08: a client that sends nothing, or nothing more, is not waited for" {
	FUNCTIONS='gone crowd' on_device a silent_clients
}

# A client is killed before each of its calls; then others are served.
killed_clients() {
	local n=1 heard=0

	start_server ./server -v -t 2
	while :; do
		at "$n" kill
		start_client "${at[@]}" ./client -a "$address" -N 3 write
		ended=0
		wait "$client" || ended=$?
		client=''
		[[ -s $scratch/at_call ]] || break
		[[ $ended -eq 137 ]] || fail "at call $n: it ended with $ended"
		n=$((n + 2))
	done
	[[ $ended -eq 0 && $n -gt 30 ]] || fail "$n calls, then $ended"
	crowd 5 write
	count_lines server.log 'received connection request'
	heard=$count
	await "a server that has freed all" gone "$heard"
	stop_server
	! rdma resource show qp | grep -q ' pid ' || fail "a queue pair is left"
}

@test "08: clients killed with -9 at one call after another" {
	FUNCTIONS='gone crowd' on_device a killed_clients
}

full() {
	start_server ./server -v -m 3
	run_client 1 ./load/load -n 5 -j 1 -a "$address" sum
	count_lines client.err 'REJECTED \(status 28\)'
	[[ $count -eq 2 ]] || fail "$count were refused"
	has_line client.log '^5 connections: 3 served, 2 refused, 0 failed\.$' ||
		fail "the sum is wrong"
	crowd 3 sum
	stop_server
}

@test "08: a server that is full refuses, and takes others later" {
	FUNCTIONS='crowd' on_device a full
}

# has_left COUNT: so many clients have left, and the server says so.
has_left() {
	count_lines server.log ': peer disconnected after'
	[[ $count -ge $1 ]]
}

# A server that is the bottleneck: its CQ is never empty, and clients leave.
bottleneck() {
	local begin ms leavers

	start_server ../08_event_loop.slow/server -t 3
	start_client ./load/load -t 120 -n 256 -q 256 -N 2000 -a "$address" sum
	await "a crowd" has_line client.log '^256 connections in'
	./load/load -t 120 -n 16 -j 16 -N 1 -a "$address" sum \
		>"$scratch/leavers.log" 2>&1 &
	leavers=$!
	await "sixteen who leave" has_left 16
	end_of "clients who leave" "$leavers" 0
	# So long that each of their deadlines has passed.
	begin=$SECONDS
	await "a deadline" eval '((SECONDS > begin + 5))'
	is_running "$server" || fail "the server ended when clients left"
	says_nothing server.err
	says_nothing client.err
	begin=${EPOCHREALTIME/./}
	kill -TERM "$server"
	await "a server that heard the signal" has_line server.err 'asked to stop'
	# When it said so; what waits for it has the same processor.
	ms=$(stat -c %.6Y "$scratch/server.err")
	ms=$(((${ms/./} - begin) / 1000))
	[[ $ms -lt 1000 ]] || fail "it took $ms ms to hear SIGTERM"
	end_of server "$server" 0
	server=''
	end_client 1
}

@test "08: clients leave a server that is never idle, and it hears SIGTERM within 1 s" {
	FUNCTIONS=has_left on_device a bottleneck
}

# What clients ask while the server stands, for longer than they may be silent, is in the
# CQ when it goes on.
stands() {
	local begin

	start_server ./server -w 2
	start_client ./load/load -t 60 -n 20 -q 20 -N 300 -a "$address" sum
	await "connections" has_line client.log '^20 connections in'
	kill -STOP "$server"
	begin=$SECONDS
	await "a deadline" eval '((SECONDS > begin + 3))'
	kill -CONT "$server"
	end_client 0
	says_nothing server.err
	stop_server
}

@test "08: who has asked in time is not late, however late the server looks" {
	on_device a stands
}

# Receives are lost, more than there are; those who come after that are served.
forgets() {
	start_server ../08_event_loop.forgetful/server -t 2
	# Its requests are answered, or the connection is given up for what is not.
	for _ in 1 2 3 4 5 6; do
		start_client ./load/load -t 3 -b 1024 -n 250 -N 1 -q 250 -a "$address" sum
		ended=0
		wait "$client" || ended=$?
		client=''
	done
	has_line server.log 'receives have not come back: posting others' ||
		fail "no receive is missed"
	run_client 0 ./load/load -n 20 -N 5 -a "$address" sum
	stop_server
}

@test "08: receives that the device has forgotten are replaced" {
	on_device a forgets
}

# On node b: a client that never has more than seven requests without an answer.
seven() {
	trap 'tc qdisc del dev eth0 root; clean_up' EXIT
	tc qdisc replace dev eth0 root netem loss 2%
	run_client 0 ../peer_08 192.0.2.1 seven "$1"
	has_line client.log "^$1 answers in .*; never more than 7" ||
		fail "not all were answered"
}

@test "08: at 2 % loss, an honest client with seven requests at a time gets all answers" {
	needs_lab
	device_run b modprobe sch_netem
	between_nodes 'serve_until_eof ./server' "seven ${SEVEN:-3000}"
	[[ $said != *error:* ]]
}

# On node b: connections that ask and take no answer.
takes_nothing() {
	local holders

	# Endless retries are not granted.
	../peer_08 192.0.2.1 hold 3 7 >"$scratch/client.log" 2>&1 &
	holders=$!
	await "three who are refused" has_line client.log '^0 of 3 connections'
	kill "$holders"
	end_of "client that is refused" "$holders" 143
	../peer_08 192.0.2.1 hold "$1" 6 >"$scratch/holders.log" 2>&1 &
	holders=$!
	await "those who hold" has_line holders.log '^[0-9]+ of .* hold'
	# They are sent away, whatever they do, and their receives are there again.
	await "the end of those who hold" has_line holders.log "^$1 were sent away"
	await "an honest client that is served" is_answered
	run_client 0 ./load/load -n 20 -N 5 -a 192.0.2.1 sum
	kill "$holders"
	end_of "clients that hold" "$holders" 143
}
is_answered() {
	./client -a 192.0.2.1 -t 5 sum >"$scratch/client.log" 2>&1
}

@test "08: clients that take no answer are sent away, and others are served" {
	FUNCTIONS=is_answered between_nodes 'serve_until_eof ./server -t 4' \
		"takes_nothing ${DEAF:-100}"
	[[ $said == *'refused: '*'rnr_retry_count 7'* ]]
	[[ $said == *'error: Client '*': '@(send: status 13|an answer)* ]]
}

# Another device of the server's.
other_device() {
	trap 'rdma link delete rxe8; ip link del veth8; clean_up' EXIT
	ip link add veth8 type veth peer name veth9
	ip link set veth8 up
	ip link set veth9 up
	ip addr add 198.51.100.1/24 dev veth8
	rdma link add rxe8 type rxe netdev veth8
}

# A client by it stays; then others come.
second_device() {
	local other

	other_device
	start_server ./server
	start_client ./load/load -t 60 -w 100 -n 1 -a 198.51.100.1 sum
	await "a client by the other device" has_line client.log 'are held'
	other=$client
	run_client 0 ./load/load -n 5 -a "$address" write
	kill "$other"
	end_of "other client" "$other" 1
	client=''
	run_client 0 ./load/load -n 5 -a 198.51.100.1 write
	stop_server
}

@test "08: a client by a second device is served, and so are those by the first" {
	needs_lab
	FUNCTIONS=other_device on_device a second_device
}

# What the clients of the other device share cannot be made, once: one of the calls fails.
no_hub() {
	local call

	other_device
	for call in ibv_create_comp_channel\ 2 ibv_create_cq\ 2 ibv_create_srq\ 2 \
		ibv_reg_mr\ 4 ibv_reg_mr\ 5; do
		at "$call" fail
		start_server "${at[@]}" ./server
		run_client 0 ./client -a "$address" write
		run_client 1 ./client -a 198.51.100.1 write
		says_one client.err 'rejected'
		says_one server.err "^error: ${call% *}: Input/output error"
		run_client 0 ./client -a "$address" write
		run_client 0 ./client -a 198.51.100.1 write
		stop_server
	done
}

@test "08: a device that cannot be used: its client is refused, and the others are served" {
	needs_lab
	FUNCTIONS=other_device on_device a no_hub
}

ends() {
	# shellcheck source=tests/08_crowds.bash
	source "$1"
	ends_with 300 100000 3000
	ends_with 300 1 3000
}

@test "08: SIGTERM ends a server with 300 clients in 3 s, and nothing is left" {
	on_device a ends "$top/tests/08_crowds.bash"
}

two_hundred() {
	# shellcheck source=tests/08_crowds.bash
	source "$1"
	cycles 200
}

@test "08: two hundred clients one after another, of whom some are killed: nothing grows" {
	on_device a two_hundred "$top/tests/08_crowds.bash"
}

killed_servers() {
	# shellcheck source=tests/08_crowds.bash
	source "$1"
	kill_servers 7
}

@test "08: a server killed with -9 at one call after another: its client ends" {
	on_device a killed_servers "$top/tests/08_crowds.bash"
}

