#!/usr/bin/env bats
#
# 07_bad_days.bats - chapter 07 on a bad day: an end killed in the middle of a
# benchmark, a peer that does not keep to the protocol, and command lines that make
# no sense
# shellcheck disable=SC2154 # the variables of on_device.bash

bats_require_minimum_version 1.5.0
load helpers
CHAPTER=07_full_speed

setup_file() {
	open_device
	build_chapter "$CHAPTER"
	build_hostile "$top/build/tests/$CHAPTER.hostile"
}

teardown_file() {
	close_device
}

# change FILE SED: and it must be another file afterwards.
change() {
	cp "$1" "$1.orig"
	sed -i "$2" "$1"
	! cmp -s "$1" "$1.orig"
}

# A build whose messages and data go wrong as hostile_07.c says.
build_hostile() {
	copy_sources "$top/$CHAPTER" "$1"
	change "$1/data.c" 's/^	msg_encode(.*/&\
	extern uint32_t hostile_size(void);\
	sge.length = hostile_size();/'
	change "$1/bench.c" '/^static void fill/,/^}/s/ = pattern(i);/&\
		extern char hostile_byte(size_t);\
		region->buf[i] += hostile_byte(i);/
		/^static void fill/,/^}/s/i++)$/& {/
		/^static void fill/,/^}/s/hostile_byte(i);$/& }/'
	change "$1/bench.c" 's/if (verify(&data->local, "read"))/\
	if (!getenv("HOSTILE_BLIND") \&\& verify(\&data->local, "read"))/'
	cc -std=gnu11 -Wall -Wextra -Werror -O2 -c -o "$1/hostile.obj" \
		"$top/tests/hostile_07.c"
	make -s -C "$1" LDFLAGS='-Wl,--wrap=msg_encode hostile.obj'
}

# In the middle: at its 50th call of ibv_post_send().
server_killed() {
	local begin ms

	start_server ./server write
	at 'ibv_post_send 50' stop
	start_client "${at[@]}" ./client -t 5 -a "$address" -b 64 -n 10000000
	await "a client that stops in the middle" state "$client" T
	kill -CONT "$client"
	kill -KILL "$server"
	begin=${EPOCHREALTIME/./}
	end_client 1
	ms=$(((${EPOCHREALTIME/./} - begin) / 1000))
	[[ $ms -lt 15000 ]] || fail "the client took $ms ms to notice"
	# 10: the kernel took the dead server's memory region away before its
	# queue pair, and an operation came in between.
	says_one client.err \
		'^error: RDMA operation: status (5|10|12) \(|RDMA operation: nothing'
	! has_line client.log '^write ' || fail "the client prints a table"
}

@test "07: the server is killed in a benchmark: the client says so, in time" {
	on_device a server_killed
}

client_killed() {
	start_server ./server write
	at 'ibv_post_send 50' kill
	start_client "${at[@]}" ./client -a "$address" -b 64 -n 10000000
	end_client 137
	await "a server that is done with the client" server_is_done
	says_one server.err '^error: receive: status 5 \('
	serves_the_next
}

@test "07: a client is killed in a benchmark: the server serves the next" {
	FUNCTIONS=serves_the_next on_device a client_killed
}

# refuses REGEX "VARIABLE=TEXT" ARGUMENT…: the server says in one line why it
# does not go on with a hostile client that is called so.
refuses() {
	local regex=$1 setting=$2 errors

	shift 2
	count_lines server.err ''
	errors=$count
	# How it ends is its own affair: it may have been done already.
	start_client env "$setting" "$hostile/client" -a "$address" "$@"
	wait "$client" || true
	client=''
	await "a server that is done with the client" server_is_done
	count_lines server.err ''
	[[ $count -eq $((errors + 1)) ]] || fail "$setting: not one line"
	[[ $(tail -n 1 "$scratch/server.err") =~ ^'error: '.*$regex ]] ||
		fail "$setting: the server does not say: $regex"
}

# After all that, a client that keeps to the protocol is served.
serves_the_next() {
	run_client 0 ./client -a "$address" write
	says_nothing client.err
	run_client 0 ./client -a "$address" -n 10
	says_nothing client.err
	stop_server
}

# For HOSTILE: everything after the type is 0 (what follows may change it).
all_zero() {
	echo 6=0 {8..23}=0
}

hostile_messages() {
	local hostile=../07_full_speed.hostile ones='8=255 9=255 10=255 11=255'

	ones+=' 12=255 13=255 14=255 15=255'
	start_server ./server write
	refuses 'does not begin with RDMA' 'HOSTILE=1 0=88' write
	refuses 'speaks version 2, this program version 1' 'HOSTILE=1 4=2' write
	refuses 'unknown type 9$' 'HOSTILE=1 5=9' write
	refuses 'unknown mode 7$' 'HOSTILE=1 6=7' write
	refuses 'where there must be zero$' 'HOSTILE=1 7=1' write
	refuses 'of 0 bytes of memory' 'HOSTILE=1 22=0' write
	refuses 'of 67108865 bytes' 'HOSTILE=1 20=4 22=0 23=1' write
	refuses 'of 4294967295 bytes' \
		'HOSTILE=1 20=255 21=255 22=255 23=255' write
	refuses 'end of the address space' "HOSTILE=1 $ones" write
	refuses '1024 bytes of memory and the peer 256;' 'HOSTILE=1 22=1' write
	refuses 'runs write and the peer benchmark' 'HOSTILE=1 6=3' write
	serves_the_next
}

@test "07: a client's malformed messages are refused by name" {
	FUNCTIONS='refuses serves_the_next' on_device a hostile_messages
}

hostile_order() {
	local hostile=../07_full_speed.hostile

	start_server ./server write
	refuses 'MSG_DONE is not legal in SS_INIT and RS_INIT$' \
		"HOSTILE=1 5=2 $(all_zero)" write
	refuses 'MSG_MR is not legal in SS_[A-Z_]* and RS_MR_RECV$' \
		'HOSTILE=2 5=1 6=1 22=4' write
	refuses 'asks for a benchmark; that may be its first message' \
		'HOSTILE=2 5=3 22=4' write
	refuses 'message type 1 instead of 2 in a benchmark' \
		'HOSTILE=2 5=1 6=1 22=4' -n 10
	refuses 'type 3 has a value where there must be zero' \
		'HOSTILE=1 6=1' -n 10
	refuses 'of 67108865 bytes' 'HOSTILE=1 20=4 22=0 23=1' -n 10
	HOSTILE_BLIND=1 refuses 'byte 100 of .* that was written is wrong' \
		HOSTILE_DATA=100 -n 10
	# With its eyes open, the client sees it first.
	refuses 'receive: status 5' HOSTILE_DATA=4095 -n 10
	says_one client.err 'byte 4095 of the memory that was read is wrong'
	refuses 'of 23 bytes instead of 24' 'HOSTILE_SIZE=1 23' write
	refuses 'of 0 bytes instead of 24' 'HOSTILE_SIZE=1 0' write
	# Local length error, or what rxe makes of it.
	refuses 'receive: status [12] ' 'HOSTILE_SIZE=1 25' write
	serves_the_next
}

@test "07: a client's messages of the wrong kind, size and data, too" {
	FUNCTIONS='refuses serves_the_next all_zero' on_device a hostile_order
}

# refused_by_client REGEX "VARIABLE=TEXT" ARGUMENT…: of a hostile server.
refused_by_client() {
	local regex=$1 setting=$2

	shift 2
	start_server env "$setting" "$hostile/server" write
	run_client 1 ./client -a "$address" "$@"
	says_one client.err "$regex"
	stop_server
}

hostile_server() {
	local hostile=../07_full_speed.hostile

	refused_by_client 'speaks version 2, ' 'HOSTILE=1 4=2' write
	refused_by_client 'asks for a benchmark; .*, to a server' \
		"HOSTILE=1 5=3 $(all_zero) 22=4" write
	refused_by_client 'server offers 2048 bytes for a benchmark$' \
		'HOSTILE=1 22=8' -n 10
	refused_by_client 'server offers 4096 bytes for a write$' \
		'HOSTILE=1 6=1' -n 10
	refused_by_client 'message type 1 instead of 2 in a benchmark' \
		'HOSTILE=2 5=1 6=3 22=4' -n 10
}

@test "07: a hostile server is refused as well" {
	FUNCTIONS='refused_by_client all_zero' on_device a hostile_server
}

# refused REGEX PROGRAM…: exit status 2, and one line, which has REGEX.
refused() {
	local regex=$1

	shift
	run_client 2 "$@"
	says_nothing client.log
	says_one client.err "$regex"
}

bad_input() {
	refused 'the last word must be write or read' ./server
	refused '^error: writes: the mode is write or read' ./server writes
	refused '^error: read: one word too many' ./server write read
	refused '^error: -o last: give first or answer' ./server -o last write
	refused '^error: -n: no such option here' ./server -n 10
	refused 'the last word must be write or read' ./client -a x
	refused '^error: write: a benchmark' ./client -a x -n 10 write
	refused '^error: -n 0: .* from 1 to 10000000$' ./client -a x -n 0
	refused '^error: -b 67108865: .* 1 to 67108864;' \
		./client -a x -n 1 -b 67108865
	refused '^error: -q 1025: .* from 1 to 1024$' ./client -a x -n 1 -q 1025
	refused '^error: -w all: give some of' ./client -a x -n 1 -w all
	refused '^error: -q, -c and -w are for' ./client -a x -q 64 write
	refused '^error: .* address is missing' ./client write
	refused '^error: -p 65536: ' ./client -a x -p 65536 write
}

@test "07: wrong usage" {
	FUNCTIONS=refused on_device a bad_input
}
