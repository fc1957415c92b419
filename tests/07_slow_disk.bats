#!/usr/bin/env bats
#
# 07_slow_disk.bats - chapter 07 with a disk that takes longer than -t: neither end
# takes the other for dead, and signals and peers that leave are seen all the same
# shellcheck disable=SC2154 # the variables of on_device.bash

load helpers
load says
CHAPTER=07_full_speed

setup_file() {
	open_device
	build_chapter "$CHAPTER"
	build_preloaded tests/slow_disk
}

# part_of FILE SIZE: the server's folder has the first SIZE bytes of FILE, as a part.
part_of() {
	local part

	printf -v part '.%s.%016x.part' "${1##*/}" "$(date -r "$1" +%s%N)"
	head -c "$2" "$1" >"$scratch/in/$part"
}

# slowly MS: what is slow, of a program that follows.
slowly() {
	slow=(env "LD_PRELOAD=$build/../slow_disk.so" "SLOW_READ=$1")
}

# Each end takes 6 s to hash the 2 MB that are there, and the other has -t 2.
resumes() {
	local way slow

	mkdir "$scratch/in"
	head -c 2200000 /dev/urandom >"$scratch/file"
	slowly 200
	for way in send write read; do
		part_of "$scratch/file" 2000000
		start_server "${slow[@]}" ./server -1 -t 2 -q 4 -d "$scratch/in"
		run_client 0 "${slow[@]}" ./client -t 2 -q 4 -a "$address" \
			"$way" "$scratch/file"
		says_nothing client.err
		end_of server "$server" 0
		server=''
		says_nothing server.err
		has_line client.log '^file: the server has 2000000 of 2200000' ||
			fail "it has begun anew"
		cmp "$scratch/file" "$scratch/in/file" || fail "not the same"
		rm "$scratch/in/file"
	done
}

@test "07: who hashes what is there for longer than -t is not taken for dead" {
	FUNCTIONS='part_of slowly' on_device a resumes
}

# A sync takes 5 s, of the file and then of the folder.
syncs() {
	mkdir "$scratch/in"
	head -c 300000 /dev/urandom >"$scratch/file"
	start_server env "LD_PRELOAD=$build/../slow_disk.so" SLOW_SYNC=5000 \
		./server -1 -t 2 -d "$scratch/in"
	run_client 0 ./client -t 2 -a "$address" write "$scratch/file"
	says_nothing client.err
	end_of server "$server" 0
	server=''
	says_nothing server.err
	cmp "$scratch/file" "$scratch/in/file" || fail "not the same"
}

@test "07: a sync that takes longer than -t is waited for" {
	on_device a syncs
}

# Whether the server has begun to hash: it has told of the file.
hashes() {
	has_line server.log '^file: file'
}

# A signal, and a peer that leaves, while the server would hash for 30 s.
is_left() {
	local slow started

	mkdir "$scratch/in"
	head -c 2200000 /dev/urandom >"$scratch/file"
	echo small >"$scratch/small"
	slowly 1000
	part_of "$scratch/file" 2000000
	start_server "${slow[@]}" ./server -t 20 -d "$scratch/in"
	start_client ./client -t 20 -a "$address" write "$scratch/file"
	await "a server that hashes" hashes
	kill -KILL "$client"
	wait "$client" || true
	client=''
	started=$SECONDS
	run_client 0 ./client -t 20 -a "$address" write "$scratch/small"
	[[ $((SECONDS - started)) -lt 15 ]] || fail "the next one waited"
	[[ $(stat -c %s "$scratch"/in/.file.*) -eq 2000000 ]] ||
		fail "the part is not kept"
	start_client ./client -t 20 -a "$address" write "$scratch/file"
	await "a server that hashes again" hashes_again
	started=$SECONDS
	stop_server
	[[ $((SECONDS - started)) -lt 10 ]] || fail "it went on hashing"
	end_client 1
}

hashes_again() {
	count_lines server.log '^file: file'
	[[ $count -eq 2 ]]
}

@test "07: SIGTERM, and a client that leaves, end a hash" {
	FUNCTIONS='part_of slowly hashes hashes_again' on_device a is_left
}

# The server has a message whenever it looks: each look takes 30 ms, and the client,
# which keeps to its credits, is never that late.
floods() {
	local slow

	mkdir "$scratch/in"
	head -c 2200000 /dev/urandom >"$scratch/file"
	part_of "$scratch/file" 2000000
	# The hash takes 3 s, and the flood 20 s.
	slowly 100
	start_server "${slow[@]}" "$build.flood/server" -q 8 -t 40 -d "$scratch/in"
	run_client 1 "$build.flood/client" -q 8 -t 40 -a "$address" send \
		"$scratch/file"
	says_one client.err 'the peer does not wait for an answer'
	! has_line client.log '^flood 600$' ||
		fail "the server went on when all had come, and not when it had hashed"
	kill -TERM "$server"
	end_of server "$server" 0
	# The hash takes 30 s, and SIGTERM comes at its beginning.
	slowly 1000
	start_server "${slow[@]}" "$build.flood/server" -q 8 -t 40 -d "$scratch/in"
	start_client "$build.flood/client" -q 8 -t 40 -a "$address" send \
		"$scratch/file"
	await "a server that hashes" hashes
	kill -TERM "$server"
	end_of server "$server" 0
	server=''
	end_client 1
	! has_line client.log '^flood 600$' || fail "SIGTERM had to wait for all of it"
}

@test "07: a client that sends without end keeps nobody from the work's end, or a signal" {
	local copy=$top/build/tests/$CHAPTER.plain.flood

	chapter_update "$top/$CHAPTER" "$copy"
	edit "$copy/sender.c" '0,/^	ret = await(out, HEAD_READY, &head);/s//\
	for (int i = 1; i <= 600; i++) {\
		struct head credit = { .type = HEAD_CREDIT };\
		log_line("flood %d", i);\
		if (channel_send(out->channel, \&credit, NULL, 0))\
			return -1;\
	}\
&/'
	edit "$copy/data.c" 's/^	int n = ibv_poll_cq(conn->cq, 1, wc);/\
	int n = (wait_readable(-1, -1, -1, wait_deadline(30)), ibv_poll_cq(conn->cq, 1, wc));/'
	make -s -C "$copy"
	FUNCTIONS='part_of slowly hashes' on_device a floods
}
