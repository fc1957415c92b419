#!/usr/bin/env bats
#
# 07_bad_days.bats - chapter 07 on a bad day: ends that are killed, connections that
# are come back from, files that cannot be sent or taken, peers that do not keep to
# the protocol
# shellcheck disable=SC2154 # the variables of on_device.bash

load helpers
CHAPTER=07_full_speed

setup_file() {
	open_still_device
	build_chapter "$CHAPTER"
}

# What is not sent or not taken is said, and the others arrive.
some_files() {
	mkdir "$scratch/in" "$scratch/folder"
	mkfifo "$scratch/fifo"
	echo good >"$scratch/good"
	echo bad >"$scratch/.hidden"
	start_server ./server -d "$scratch/in"
	run_client 1 ./client -a "$address" send "$scratch/missing" \
		"$scratch/.hidden" "$scratch/folder" /dev/null "$scratch/fifo" \
		"$scratch/good"
	count_lines client.err '^error: '
	[[ $count -eq 5 ]] || fail "not one line for each"
	has_line client.err 'missing is not sent$' || fail "missing"
	has_line client.err '\.hidden: .* does not take a file of that name$' ||
		fail "a name with a dot"
	has_line client.err 'folder: only files are sent' || fail "a folder"
	has_line client.err '/dev/null: only files are sent' || fail "a device"
	has_line client.err 'fifo: only files are sent' || fail "a FIFO"
	has_line client.log '^good: stored' || fail "the good one is not there"
	await "a server that is done" has_line server.log 'peer disconnected'
	cmp "$scratch/good" "$scratch/in/good" || fail "not the same"
	[[ $(ls -A "$scratch/in") == good ]] || fail "there is something else"
	# In the place of a folder.
	mkdir "$scratch/in/good2"
	cp "$scratch/good" "$scratch/good2"
	run_client 1 ./client -a "$address" write "$scratch/good2"
	says_one client.err 'good2: the server refuses it: it has a file of that'
	await "an error" has_line server.err 'something of that name already'
	stop_server
	[[ $(ls -A "$scratch/in") == good$'\n'good2 ]] || fail "a part is left"
	# Where nothing is taken.
	start_server ./server -1
	run_client 1 ./client -a "$address" read "$scratch/good"
	says_one client.err 'start it with -d DIRECTORY'
	end_of server "$server" 0
	server=''
}

@test "07: files that cannot be sent or taken are named, and the others arrive" {
	on_device a some_files
}

# As root, with a file system of 1 MB.
disk_full() {
	local way

	trap 'umount /mnt; clean_up' EXIT
	mount -t tmpfs -o size=1m none /mnt
	head -c 3000000 /dev/urandom >"$scratch/large"
	echo small >"$scratch/small"
	for way in send write read; do
		start_server ./server -1 -d /mnt
		run_client 1 ./client -a "$address" "$way" "$scratch/large" \
			"$scratch/small"
		says_one client.err 'large: the server (stops|refuses) it'
		end_of server "$server" 0
		server=''
		says_one server.err 'pwrite: No space left on device; is the disk'
		[[ $(ls -A /mnt) == small ]] || fail "something is left"
	done
}

@test "07: the disk is full: nothing is left, and a smaller file arrives" {
	needs_lab
	on_device a disk_full
}

# The disk has room for one part. Files of so many parts that their last ones, or
# END, wait for a credit when the server stops them.
disk_full_late() {
	local way parts

	trap 'umount /mnt; clean_up' EXIT
	mount -t tmpfs -o size=64k none /mnt
	head -c 61440 /dev/zero >/mnt/filler
	echo small >"$scratch/small"
	for way in send write read; do
		start_server ./server -q 4 -d /mnt
		for parts in 2 3 4 5 8; do
			head -c $((4096 * parts)) /dev/urandom >"$scratch/late"
			run_client 1 ./client -a "$address" -q 4 -b 4096 "$way" \
				"$scratch/late" "$scratch/small"
			says_one client.err 'late: the server (stops|refuses) it'
			has_line client.log '^small: stored' || fail "$parts parts"
			rm /mnt/small
		done
		stop_server
	done
}

@test "07: a disk that is full at any part leaves the connection alone" {
	needs_lab
	on_device a disk_full_late
}

shrinks() {
	local way

	mkdir "$scratch/in"
	echo small >"$scratch/small"
	for way in send write read; do
		head -c 3000000 /dev/urandom >"$scratch/shrinks"
		start_server ./server -1 -d "$scratch/in"
		at 'ibv_post_send 6' stop
		start_client "${at[@]}" ./client -a "$address" -q 4 -b 4096 \
			"$way" "$scratch/shrinks" "$scratch/small"
		await "a client that stops in the middle" state "$client" T
		: >"$scratch/shrinks"
		kill -CONT "$client"
		end_client 1
		says_one client.err 'shrinks has become shorter while it was being sent'
		end_of server "$server" 0
		server=''
		says_nothing server.err
		[[ $(ls -A "$scratch/in") == small ]] || fail "something is left"
		rm "$scratch/in/small"
	done
}

@test "07: a file that shrinks while it is sent is given up, by both" {
	on_device a shrinks
}

# Half of it is sent, then all of it is written anew, in place.
changes() {
	local way

	mkdir "$scratch/in"
	echo small >"$scratch/small"
	for way in send write read; do
		head -c 3000000 /dev/zero >"$scratch/torn"
		start_server ./server -1 -d "$scratch/in"
		at 'ibv_post_send 6' stop
		start_client "${at[@]}" ./client -a "$address" -q 4 -b 4096 \
			"$way" "$scratch/torn" "$scratch/small"
		await "a client that stops in the middle" state "$client" T
		head -c 3000000 /dev/urandom |
			dd of="$scratch/torn" conv=notrunc status=none
		kill -CONT "$client"
		end_client 1
		says_one client.err 'torn has changed while it was being sent.*send it again'
		end_of server "$server" 0
		server=''
		says_nothing server.err
		[[ $(ls -A "$scratch/in") == small ]] || fail "something is left"
		rm "$scratch/in/small"
	done
}

@test "07: a file that is written to while it is sent is not stored" {
	on_device a changes
}

# The server is killed in the middle and started again: the client goes on there.
comes_back() {
	local way

	mkdir "$scratch/in"
	head -c 3000000 /dev/urandom >"$scratch/file"
	for way in send write read; do
		at 'ibv_post_recv 60' kill
		start_server "${at[@]}" ./server -t 3 -d "$scratch/in"
		start_client ./client -t 5 -a "$address" -R 50 -q 8 -b 16384 \
			"$way" "$scratch/file"
		wait "$server" || true
		start_server ./server -t 3 -d "$scratch/in"
		end_client 0
		has_line client.log '^the connection broke; again in' ||
			fail "it has not come back"
		has_line client.log '^file: the server has [1-9][0-9]* of 3000000' ||
			fail "it has begun anew"
		cmp "$scratch/file" "$scratch/in/file" || fail "not the same"
		[[ $(ls -A "$scratch/in") == file ]] || fail "a part is left"
		stop_server
		rm "$scratch/in/file"
	done
	# Without -R, it is one error.
	at 'ibv_post_recv 60' kill
	start_server "${at[@]}" ./server -d "$scratch/in"
	start_client ./client -t 5 -a "$address" -q 8 -b 16384 send "$scratch/file"
	wait "$server" || true
	server=''
	end_client 1
	count_lines client.err '^error: '
	[[ $count -eq 1 ]] || fail "not one error"
	[[ ! -e $scratch/in/file ]] || fail "half of a file has its name"
}

@test "07: -R: the server is killed and started again; the file arrives once" {
	on_device a comes_back
}

# The client is killed; the next one goes on with its file.
client_killed() {
	mkdir "$scratch/in"
	head -c 3000000 /dev/urandom >"$scratch/file"
	start_server ./server -t 20 -d "$scratch/in"
	at 'ibv_post_send 60' kill
	start_client "${at[@]}" ./client -a "$address" -q 8 -b 16384 write \
		"$scratch/file"
	end_client 137
	await "a server that is done with the client" server_is_done
	has_line server.log 'of 3000000 bytes are kept\.$' || fail "nothing kept"
	[[ ! -e $scratch/in/file ]] || fail "half of a file has its name"
	run_client 0 ./client -a "$address" send "$scratch/file"
	has_line client.log 'the server has [1-9][0-9]* of 3000000' ||
		fail "it has begun anew"
	cmp "$scratch/file" "$scratch/in/file" || fail "not the same"
	stop_server
}

# It takes the file, and fails at the first part of it, each time: what the client
# has sent by then is no progress.
fails_always() {
	head -c 3000000 /dev/urandom >"$scratch/large"
	mkdir "$scratch/in"
	start_server "$build.fails/server" -d "$scratch/in"
	run_client 1 ./client -a "$address" -R 3 send "$scratch/large"
	count_lines client.log '^the connection broke; again in '
	[[ $count -eq 3 ]] || fail "tried $count times again"
	# Half of each pause is random: not all three are the longest.
	has_line client.log 'again in 0\.(1[2-9]|2[0-5]) s, 1 of 3' || fail "the first"
	has_line client.log 'again in 0\.(2[5-9]|[34][0-9]|50) s, 2 of 3' ||
		fail "the second"
	has_line client.log 'again in (0\.[5-9][0-9]|1\.00) s, 3 of 3' || fail "the third"
	! has_line client.log 'again in 0\.25 s' || ! has_line client.log 'again in 0\.50 s' ||
		! has_line client.log 'again in 1\.00 s' || fail "they are not random"
	stop_server
}

@test "07: -R: a server that fails each time is given up" {
	local copy=$top/build/tests/07_full_speed.plain.fails

	chapter_update "$top/07_full_speed" "$copy"
	sed -i '/^static int on_part(struct receiver/,/^}/s/if (receiver->refused)/return -1;\n\t&/' \
		"$copy/receiver.c"
	run -1 cmp -s "$copy/receiver.c" "$top/07_full_speed/receiver.c"
	make -s -C "$copy" server
	on_device a fails_always
}

@test "07: a client is killed: its file is kept, and the next goes on with it" {
	on_device a client_killed
}

# killed_at STEP WAY: a client is killed at its first call, its STEP + 1st and so on,
# until there is no such call any more; each time, the next one's file arrives whole.
killed_at() {
	local n=1 times=0 ended

	mkdir "$scratch/in"
	head -c 100000 /dev/urandom >"$scratch/file"
	start_server ./server -t 20 -d "$scratch/in"
	while :; do
		at "$n" kill
		start_client "${at[@]}" ./client -a "$address" -q 4 -b 16384 "$2" \
			"$scratch/file"
		ended=0
		wait "$client" || ended=$?
		client=''
		[[ $ended -eq 137 ]] || break
		times=$((times + 1))
		n=$((n + $1))
		run_client 0 ./client -a "$address" "$2" "$scratch/file"
		says_nothing client.err
		cmp "$scratch/file" "$scratch/in/file" || fail "not the same"
		rm "$scratch/in/file"
	done
	[[ $ended -eq 0 && $times -ge 4 ]] || fail "killed $times times: $ended"
	[[ $(ls -A "$scratch/in") == file ]] || fail "something else is left"
	stop_server
	echo "killed $times times"
}

@test "07: killed with -9 at one step after another, by send" {
	on_device a killed_at 9 send
}

@test "07: killed with -9 at one step after another, by write" {
	on_device a killed_at 9 write
}

@test "07: killed with -9 at one step after another, by read" {
	on_device a killed_at 9 read
}

# A benchmark, whose peer is killed in the middle.
bench_killed() {
	start_server ./server -B
	at 'ibv_post_send 50' stop
	start_client "${at[@]}" ./client -t 5 -a "$address" -b 64 -n 10000000
	await "a client that stops in the middle" state "$client" T
	kill -CONT "$client"
	kill -KILL "$server"
	end_client 1
	says_one client.err \
		'^error: RDMA operation: status (5|10|12) \(|RDMA operation: nothing'
	! has_line client.log '^write ' || fail "the client prints a table"
	wait "$server" || true
	start_server ./server -B
	at 'ibv_post_send 50' kill
	start_client "${at[@]}" ./client -a "$address" -b 64 -n 10000000
	end_client 137
	await "a server that is done with the client" server_is_done
	says_one server.err '^error: receive: status 5 \('
	run_client 0 ./client -a "$address" -n 10
	says_nothing client.err
	stop_server
}

@test "07: either side is killed in a benchmark: the other says so and goes on" {
	on_device a bench_killed
}

# A client that is stopped in a benchmark has -t, and the next one is served. Where
# nobody has asked for benchmarks, there are none.
bench_silent() {
	start_server ./server -B -t 3
	# The server has had a sign of life by then: the first comes after 256 operations.
	at 'ibv_post_send 2000' stop
	start_client "${at[@]}" ./client -t 30 -a "$address" -b 64 -n 10000000
	await "a client that stops in the middle" state "$client" T
	await "a server that gives it up" server_is_done
	says_one server.err 'a sign of life in a benchmark: nothing came within 3 s'
	run_client_aside 0 ./client -a "$address" -n 10
	kill -KILL "$client"
	wait "$client" || true
	client=''
	stop_server
	start_server ./server
	run_client 1 ./client -a "$address" -n 10
	says_one client.err 'the server lends no memory for benchmarks'
	await "a server that is done" has_line server.log 'peer disconnected'
	says_nothing server.err
	stop_server
}

# run_client_aside STATUS COMMAND…: beside a client that is not the test's last one.
run_client_aside() {
	local stopped=$client

	run_client "$@"
	client=$stopped
}

@test "07: a client that is silent in a benchmark is given up after -t" {
	FUNCTIONS=run_client_aside on_device a bench_silent
}

# What would fail again in the same way is said once.
permanent() {
	local call

	mkdir "$scratch/in"
	echo x >"$scratch/file"
	start_server ./server -d "$scratch/in"
	for call in 'ibv_alloc_pd 1' 'ibv_reg_mr 1' 'ibv_post_recv 1'; do
		at "$call" fail
		run_client 1 "${at[@]}" ./client -a "$address" -R 3 send "$scratch/file"
		! has_line client.log 'again in' || fail "$call: it tries again"
		has_line client.err "^error: ${call% 1}: " || fail "$call: not said"
	done
	run_client 1 ./client -a no-such-host.invalid -R 3 send "$scratch/file"
	says_one client.err '^error: cannot look up no-such-host\.invalid: '
	! has_line client.log 'again in' || fail "it looks the name up again"
	run_client 0 ./client -a "$address" -R 3 send "$scratch/file"
	stop_server
}

@test "07: -R: what this machine cannot do is not tried again" {
	on_device a permanent
}
