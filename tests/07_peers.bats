#!/usr/bin/env bats
#
# 07_peers.bats - chapter 07 and a peer that does not keep to the protocol: what is
# wrong is named, no file is wrong, and the next client is served
# shellcheck disable=SC2154 # the variables of on_device.bash

load helpers
CHAPTER=07_full_speed

setup_file() {
	open_device
	build_chapter "$CHAPTER"
	build_preloaded tests/hostile_07
}

# Its error may be of a file, and not of the connection: so server_is_done of
# on_device.bash would not do.
no_connection() {
	local requests

	count_lines server.log '^received connection request'
	requests=$count
	count_lines server.log '^\[LOG\] closing connection'
	[[ $count -eq $requests ]]
}

has_ended() {
	! is_running "$1"
}

# hostile HOSTILE WAY FILE: a client that is hostile as hostile_07.c says, and
# after which the server is done. Its own end is its own affair.
hostile() {
	start_client env "LD_PRELOAD=$build/../hostile_07.so" "HOSTILE=$1" \
		./client -a "$address" -t 30 -q 8 -b 16384 "$2" "$scratch/out/$3"
	await "an end of the client" has_ended "$client"
	wait "$client" || true
	client=''
	await "a server that is done with the client" no_connection
}

# refuses REGEX HOSTILE WAY [FILE]: the server says in one line why it ends the
# connection; no file has its name, and what came of it goes.
refuses() {
	local errors

	count_lines server.err ''
	errors=$count
	hostile "$2" "$3" "${4:-file}"
	count_lines server.err ''
	[[ $count -eq $((errors + 1)) ]] || fail "$2: not one line"
	[[ $(tail -n 1 "$scratch/server.err") =~ ^'error: '.*$1 ]] ||
		fail "$2: the server does not say: $1"
	[[ ! -e $scratch/in/file ]] || fail "$2: the file is there"
	rm -f "$scratch"/in/.file.*
}

# The same, of a file: the server tells the client so, and all else goes on.
refuses_file() {
	local regex=$1

	shift
	hostile "$@"
	has_line client.err "$regex" || fail "$1: the client was not told"
	has_line client.log '^disconnected' || fail "$1: the connection broke"
	[[ -z $(ls -A "$scratch/in") ]] || fail "$1: something is there"
}

# After all that, a client that keeps to the protocol is served.
serves_the_next() {
	run_client 0 ./client -a "$address" "$1" "$scratch/out/file"
	says_nothing client.err
	await "a server that is done with the client" no_connection
	cmp "$scratch/out/file" "$scratch/in/file" || fail "not the same"
	stop_server
}

begin_hostile() {
	mkdir "$scratch/in" "$scratch/out"
	head -c 300000 /dev/urandom >"$scratch/out/file"
	start_server ./server -t 30 -q 16 -d "$scratch/in"
}

hostile_hello() {
	begin_hostile
	refuses 'wants 3 parts of 16384 bytes; from 4 to 1024' \
		'RDMA 4 1 19=3' send
	refuses 'wants 0 parts of 16384' 'RDMA 4 1 19=0' read
	refuses 'wants 8 parts of 255 bytes; .* at least 256' \
		'RDMA 4 1 22=0 23=255' write
	refuses 'wants 8 parts of 67108864 bytes; .* and 67108864 bytes in all' \
		'RDMA 4 1 20=4 22=0' write
	refuses 'MSG_FILES has the unknown mode 3' 'RDMA 4 1 6=3' send
	refuses 'message type 2 at the beginning' \
		'RDMA 4 1 5=2 6=0 19=0 22=0' send
	refuses 'message type 4 instead of 2' 'RDMA 2 1 5=4 6=1 22=16' write
	serves_the_next send
}

@test "07: hostile clients: what was never agreed on" {
	FUNCTIONS='no_connection has_ended hostile refuses serves_the_next begin_hostile' \
		on_device a hostile_hello
}

# The header's bytes: 5 type, 6 credits, 8 done, 12 length, 16 number, 32 rkey; the
# types: 1 BEGIN, 4 DATA, 5 HERE, 6 END, 8 GIVE_UP.
hostile_heads() {
	begin_hostile
	refuses 'does not begin with a header' 'RDMF 4 3 39=1' send
	refuses 'the peer returns 256 credits, and has [0-8] of 8' \
		'RDMF 4 3 6=1 7=0' send
	refuses '16384 bytes after a header that announces 16385' \
		'RDMF 4 3 15=1' send
	refuses '9999 bytes after a header that announces 16384' \
		'RDMF 4 3 size=10039' send
	refuses 'a text of 16384 bytes' 'RDMF 4 3 5=1' send
	refuses 'a part that comes another way' \
		'RDMF 4 3 5=5 12=0 14=0 size=40' send
	refuses 'a part that comes another way' 'RDMF 5 3 5=4 14=0' read
	refuses 'a write with immediate data' 'RDMF 4 3 imm=100' send
	refuses 'a file within a file' 'RDMF 6 1 5=1' write
	refuses 'a digest of 31 bytes' 'RDMF 6 1 15=31 size=71' write
	refuses 'the end of no file' 'RDMF 1 1 5=6 15=32 size=72' read
	refuses 'a part of no file' 'RDMF 1 1 5=8' write
	refuses 'message type 2 to a receiver' 'RDMF 1 1 5=2' read
	serves_the_next write
}

@test "07: hostile clients: headers that lie" {
	FUNCTIONS='no_connection has_ended hostile refuses serves_the_next begin_hostile' \
		on_device a hostile_heads
}

hostile_parts() {
	begin_hostile
	# The immediate value is the length; the ring is 131072 bytes.
	refuses 'a part of 0 bytes' 'write 3 imm=0' write
	refuses 'a part of 16385 bytes, where 16384' 'write 3 imm=16385' write
	refuses 'status 5 \(' 'write 3 addr=131072' write
	refuses 'status 5 \(' 'write 3 rkey=255' write
	# HERE: where the server is to read, and how much of it.
	refuses 'a part of 81920 bytes' 'RDMF 5 3 13=1' read
	refuses 'a part of 0 bytes' 'RDMF 5 3 14=0' read
	refuses 'read of a part: status 10 \(' 'RDMF 5 3 32=0 33=0 34=0' read
	refuses 'read of a part: status 10 \(' 'RDMF 5 3 24=127' read
	serves_the_next read
}

@test "07: hostile clients: lengths, places and keys that are not theirs" {
	FUNCTIONS='no_connection has_ended hostile refuses serves_the_next begin_hostile' \
		on_device a hostile_parts
}

hostile_files() {
	local way

	begin_hostile
	# A name is at 40: "file" becomes "../f", "a/le", "f", 0, "le", and ".ile".
	for way in '40=46 41=46 42=47 43=102' '40=97 41=47' '41=0' '40=46'; do
		refuses_file 'does not take a file of that name' \
			"RDMF 1 1 $way" send file
	done
	[[ ! -e $scratch/f ]] || fail "it wrote outside of its folder"
	says_nothing server.err
	# 300000 is 0x0493e0: less, more, and much more than is sent.
	for way in send write read; do
		refuses_file 'it cannot write the file' 'RDMF 1 1 21=0' "$way" file
		refuses_file 'is not what was sent' 'RDMF 1 1 20=1' "$way" file
		refuses_file 'does not take that much in all' 'RDMF 1 1 16=127' \
			"$way" file
		refuses_file 'is not what was sent' 'RDMF 6 1 40=0 41=0 71=0' \
			"$way" file
	done
	count_lines server.err 'more than the 37856 bytes that the file has'
	[[ $count -eq 3 ]] || fail "not each one that sent more"
	count_lines server.err 'is not the one that was sent: it is thrown away'
	[[ $count -eq 6 ]] || fail "not each one that sent something else"
	# One byte further on, in a place that is its own.
	refuses_file 'is not what was sent' 'write 3 addr=1' write file
	serves_the_next send
}

@test "07: hostile clients: names, sizes and digests" {
	FUNCTIONS='no_connection has_ended hostile refuses_file serves_the_next begin_hostile' \
		on_device a hostile_files
}

# refused_by_client REGEX HOSTILE WAY: of a hostile server, with the options folder.
refused_by_client() {
	start_server env "LD_PRELOAD=$build/../hostile_07.so" "HOSTILE=$2" \
		./server -1 -t 30 -q 8 "${folder[@]}"
	run_client 1 ./client -a "$address" -t 30 -b 16384 "$3" "$scratch/out/file"
	says_one client.err "$1"
	! has_line client.log 'stored' || fail "the client believes it"
	# What it makes of that is its own affair.
	kill "$server" 2>/dev/null || true
	wait "$server" || true
	server=''
	rm -f "$scratch"/in/* "$scratch"/in/.file.*
}

# The types: 2 READY, 3 REFUSED, 7 STORED.
hostile_server() {
	local folder=(-d "$scratch/in")

	mkdir "$scratch/in" "$scratch/out"
	head -c 300000 /dev/urandom >"$scratch/out/file"
	refused_by_client 'the server offers 131073 bytes for a write' \
		'RDMA 1 1 23=1' write
	refused_by_client 'the server offers 131072 bytes for a read' \
		'RDMA 1 1 6=2' write
	refused_by_client 'the server offers 2228224 bytes' 'RDMA 1 1 21=34' send
	refused_by_client 'has more of it than there is' 'RDMF 2 1 20=1' send
	refused_by_client 'the peer returns 256 credits, and has [0-8] of 8' \
		'RDMF 2 1 6=1' write
	refused_by_client 'has taken more parts than there were' \
		'RDMF 2 1 8=1' read
	refused_by_client 'message type 1 instead of 7' 'RDMF 7 1 5=1' send
	refused_by_client 'a part of 0 bytes' 'RDMF 7 1 5=4' send
	refused_by_client 'a part that comes another way' 'RDMF 7 1 5=5' write
	refused_by_client 'a write with immediate data' 'RDMF 7 1 imm=1' read
	folder=()
	refused_by_client 'the server refuses it: for no known reason' \
		'RDMF 3 1 16=1' read
}

@test "07: a hostile server is refused as well" {
	FUNCTIONS=refused_by_client on_device a hostile_server
}
