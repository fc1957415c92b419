#!/usr/bin/env bats
#
# 02_bad_days.bats - chapter 02 on a bad day: an end killed in the middle of a
# transfer, and a peer that does not keep to the protocol
# shellcheck disable=SC2154 # the variables of on_device.bash

load helpers
load says
CHAPTER=02_write_read

setup_file() {
	open_still_device
	build_chapter "$CHAPTER"
	build_hostile "$top/build/tests/$CHAPTER.hostile"
}

# A build whose messages and data go wrong as hostile_02.c says.
build_hostile() {
	chapter_update "$top/$CHAPTER" "$1"
	edit "$1/data.c" 's/^	msg_encode(.*/&\
	extern uint32_t hostile_size(void);\
	sge.length = hostile_size();/'
	edit "$1/plumbing/pattern.c" 's/^		buf\[i\] = \(.*\);/{\
		extern char hostile_byte(size_t, char);\
		buf[i] = hostile_byte(i, \1);\
		}/'
	cc -std=gnu11 -Wall -Wextra -Werror -O2 -c -o "$1/hostile.obj" \
		"$top/tests/hostile_02.c"
	make -s -C "$1" LDFLAGS='-Wl,--wrap=msg_encode hostile.obj'
}

# In the middle: after its MSG_MR, before its WRITE.
server_killed() {
	local begin ms

	start_server ./server -b 1048576 write
	at 'ibv_post_send 2' stop
	start_client "${at[@]}" ./client -t 5 -a "$address" -b 1048576 write
	await "a client that stops in the middle" state "$client" T
	kill -KILL "$server"
	# It is dead only when it has run once more; until then its device answers.
	end_of server "$server" 137
	server=''
	kill -CONT "$client"
	begin=${EPOCHREALTIME/./}
	end_client 1
	ms=$(((${EPOCHREALTIME/./} - begin) / 1000))
	[[ $ms -lt 15000 ]] || fail "the client took $ms ms to notice"
	says_one client.err \
		'^error: (RDMA operation|receive|send of MSG_DONE): status (5|10|12) \(|: nothing'
	! has_line client.log 'verified' || fail "the client got nothing"
}

@test "02: the server is killed in a transfer: the client says so, in time" {
	on_device a server_killed
}

client_killed() {
	start_server ./server write
	at 'ibv_post_send 2' kill
	start_client "${at[@]}" ./client -a "$address" write
	end_client 137
	await "a server that is done with the client" server_is_done
	says_one server.err \
		'^error: (RDMA operation|receive|send of MSG_DONE): status (5|10|12) \('
	serves_the_next
}

@test "02: a client is killed in a transfer: the server serves the next" {
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
	stop_server
}

# For HOSTILE: everything after the type is 0 (what follows may change it).
all_zero() {
	echo 6=0 {8..23}=0
}

hostile_messages() {
	local hostile=../02_write_read.hostile ones='8=255 9=255 10=255 11=255'

	ones+=' 12=255 13=255 14=255 15=255'
	start_server ./server write
	refuses 'does not begin with RDMA' 'HOSTILE=1 0=88' write
	refuses 'speaks version 2, this program version 1' 'HOSTILE=1 4=2' write
	refuses 'unknown type 9$' 'HOSTILE=1 5=9' write
	refuses 'unknown mode 7$' 'HOSTILE=1 6=7' write
	refuses 'where there must be zero$' 'HOSTILE=1 7=1' write
	refuses 'announces 0 bytes of memory' 'HOSTILE=1 22=0' write
	refuses 'announces 67108865 bytes' 'HOSTILE=1 20=4 22=0 23=1' write
	refuses 'announces 4294967295 bytes' \
		'HOSTILE=1 20=255 21=255 22=255 23=255' write
	refuses 'end of the address space' "HOSTILE=1 $ones" write
	refuses '1024 bytes of memory and the peer 256;' 'HOSTILE=1 22=1' write
	refuses 'runs write and the peer read' 'HOSTILE=1 6=2' write
	serves_the_next
}

@test "02: a client's malformed messages are refused by name" {
	FUNCTIONS='refuses serves_the_next' on_device a hostile_messages
}

hostile_order() {
	local hostile=../02_write_read.hostile

	start_server ./server write
	refuses 'MSG_DONE is not legal in SS_INIT and RS_INIT$' \
		"HOSTILE=1 5=2 $(all_zero)" write
	refuses 'MSG_MR is not legal in SS_[A-Z_]* and RS_MR_RECV$' \
		'HOSTILE=2 5=1 6=1 22=4' write
	refuses "MSG_DONE has a value where there must be zero" \
		'HOSTILE=2 23=1' write
	refuses 'of 23 bytes instead of 24' 'HOSTILE_SIZE=1 23' write
	refuses 'of 0 bytes instead of 24' 'HOSTILE_SIZE=1 0' write
	# Local length error, or what rxe makes of it.
	refuses 'receive: status [12] ' 'HOSTILE_SIZE=1 25' write
	serves_the_next
}

@test "02: a client's messages of the wrong kind and size, too" {
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
	local hostile=../02_write_read.hostile

	refused_by_client 'speaks version 2, ' 'HOSTILE=1 4=2' write
	refused_by_client 'unknown type 3$' 'HOSTILE=1 5=3' write
	refused_by_client '1024 bytes of memory and the peer 2048; start both' \
		'HOSTILE=1 22=8' write
}

@test "02: a hostile server is refused as well" {
	FUNCTIONS=refused_by_client on_device a hostile_server
}

# wrong_byte MODE BYTE SIZE: a client whose byte BYTE of SIZE is wrong.
wrong_byte() {
	local mode=$1 byte=$2 size=$3

	start_server ./server -1 -b "$size" "$mode"
	# What the server has done for it is right.
	run_client 0 env HOSTILE_DATA="$byte" "$hostile/client" -a "$address" \
		-b "$size" "$mode"
	has_line client.log "^$size bytes verified" ||
		fail "the client has not verified what is right"
	end_of server "$server" 1
	server=''
	says_one server.err "^error: byte $byte of the memory is 0x"
	! has_line server.log verified || fail "the server says it is right"
}

wrong_bytes() {
	local hostile=../02_write_read.hostile mode

	for mode in write read; do
		wrong_byte "$mode" 64 1024
		wrong_byte "$mode" 1023 1024
		wrong_byte "$mode" 1048575 1048576
	done
	# The client looks as well.
	start_server env HOSTILE_DATA=70000 "$hostile/server" -b 100000 write
	run_client 1 ./client -a "$address" -b 100000 write
	says_one client.err '^error: byte 70000 of the memory is 0x'
	stop_server
}

@test "02: a wrong byte of the memory is named by the side that has it" {
	FUNCTIONS=wrong_byte on_device a wrong_bytes
}

# A text of 8 MiB, the most that rxe takes, of which the server shows what fits into a
# line.
long_text() {
	local hostile=../02_write_read.hostile line

	start_server ./server -t 100 -b 8388608 write
	start_client env HOSTILE_DATA=text "$hostile/client" -t 100 -a "$address" \
		-b 8388608 write
	await "what is wrong with it" has_line server.err 'memory is 0x78'
	line=$(grep 'xxxx$' "$scratch/server.log")
	[[ ${#line} -gt 4000 && ${#line} -lt 9000 ]] || fail "${#line} are shown"
	end_client '[01]'
	: >"$scratch/server.err"
	stop_server
}

@test "02: of a peer's text of 8 MiB, the server shows what fits into a line" {
	on_device a long_text
}
