#!/usr/bin/env bats
#
# 03_pure_verbs.bats - chapter 03: two nodes, sanitizers, peers that lie or die, and what the device reports

# shellcheck disable=SC2154 # set by helpers.bash
load helpers
CHAPTER=03_pure_verbs

setup_file() {
	local flags='-O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined'

	open_device
	build_with plain '-O1 -g'
	build_with sanitized "$flags -fno-sanitize-recover=undefined"
	build_with threads '-O1 -g -fsanitize=thread'
	build_shim
}

@test "03: PSNs that are given by hand are those of the queue pairs" {
	local out=$BATS_TEST_TMPDIR/run log

	run_matches "$top/$CHAPTER/expected/psn_by_hand/commands" \
		"$top/$CHAPTER/expected/psn_by_hand" \
		-d "$top/build/tests/$CHAPTER.plain"
	# The comparison takes any PSN for another.
	for log in server:123456:789abc client:789abc:123456; do
		IFS=: read -r end own peer <<<"$log"
		grep -q "^INIT -> RTR: .*, rq_psn=0x$peer," "$out/$end.log"
		grep -q "^RTR -> RTS: sq_psn=0x$own," "$out/$end.log"
	done
}

# story FILE: from the operation on, without what only one chapter says.
story() {
	sed -n '/^\[DEBUG\] About to post/,/^remote buffer/p' "$1" |
		sed 's/^\(\[LOG\] [A-Z]*: Both DONE,\) .*/\1/'
}

@test "03: from the operation on, the logs are those of chapter 02" {
	local mode end out=$BATS_TEST_TMPDIR/run

	for mode in write read; do
		mkdir -p "$out/$mode/02" "$out/$mode/03"
		for end in server client; do
			story "$top/02_write_read/expected/$mode/$end.log" \
				>"$out/$mode/02/$end.log"
			story "$top/$CHAPTER/expected/$mode/$end.log" \
				>"$out/$mode/03/$end.log"
			[[ $(wc -l <"$out/$mode/03/$end.log") -gt 8 ]]
		done
		# Where the peer's MSG_DONE stands, and so the numbers, may vary.
		grep ' <> ' "$top/$CHAPTER/expected/$mode/races" \
			>"$out/$mode/03/races"
		for end in server client; do
			sed -i 's/recv_state=[0-9]$/recv_state=N/
				s/send_state=[0-9],/send_state=N,/' \
				"$out/$mode/0"[23]"/$end.log"
		done
		run -0 "$top/scripts/compare_logs.sh" "$out/$mode/02" \
			"$out/$mode/03"
	done
}

@test "03: two nodes, write and read, over IPv4 and IPv6" {
	local mode address out=$BATS_TEST_TMPDIR/run

	needs_lab
	for mode in write read; do
		for address in 192.0.2.1 2001:db8::1; do
			printf 'server: ./server -1 %s\nclient: ./client -a %s %s\n' \
				"$mode" "$address" "$mode" >"$BATS_TEST_TMPDIR/commands"
			run_matches "$BATS_TEST_TMPDIR/commands" \
				"$top/$CHAPTER/expected/$mode" -n 2 \
				-d "$top/build/tests/$CHAPTER.plain"
		done
		grep -q 'remote: .* GID 2001:db8::1,' "$out/client.log"
	done
}

@test "03: no data race: writing, little and much, under ThreadSanitizer" {
	local work

	for work in write '-b 200000 write'; do
		printf 'server: ./server -1 %s\nclient: ./client -a 192.0.2.1 %s\n' \
			"$work" "$work" >"$BATS_TEST_TMPDIR/commands"
		"$top/scripts/pair.sh" -d "$top/build/tests/$CHAPTER.threads" \
			"$BATS_TEST_TMPDIR/commands" "$BATS_TEST_TMPDIR/run"
		run -0 cat "$BATS_TEST_TMPDIR/run/status.log"
		[[ ${lines[*]} == 'server: exit status 0 client: exit status 0' ]]
		[[ ! -e $BATS_TEST_TMPDIR/run/server.err ]]
		[[ ! -e $BATS_TEST_TMPDIR/run/client.err ]]
	done
}

# Against the real program, on a port that nobody else uses.
play() {
	timeout 60 ibv_rc_pingpong -p 18600 -g 1 -s 8 -n 3 \
		>"$scratch/server.log" 2>"$scratch/server.err" &
	server=$!
	await "a server that listens" listens_on 18600
	run_client 0 "$1/client" -a "$address" -p 18600 write
	says_nothing client.err
	count_lines client.log '^ping, pong\.$'
	[[ $count -eq 3 ]] || fail "not three messages each way"
	end_of server "$server" 0
	server=''
	has_line server.log '^3 iters in ' || fail "the server has not played"
}
listens_on() { [[ -n $(ss -Hltn "sport = :$1") ]]; }

@test "03: the exercise: a client for rdma-core's own ibv_rc_pingpong" {
	local copy=$top/build/tests/pingpong

	needs_lab
	rm -rf "$copy"
	chapter_update "$top/$CHAPTER" "$copy"
	patch -f -s -d "$copy" -p1 <"$top/$CHAPTER/exercises/pingpong.patch"
	make -s -j2 -C "$copy" CFLAGS='-O1 -g -Werror' client
	FUNCTIONS=listens_on on_device a play "$copy"
}

# --- the functions below run on node a

errors() { wc -l <"$scratch/server.err"; }
said_more() { [[ $(errors) -gt $1 ]]; }
ends() { grep -c '^peer disconnected' "$scratch/server.log" || true; }
served() { [[ $(ends) -gt $1 ]]; }
no_queue_pairs() {
	[[ $(rdma resource show qp | grep -c 'pid' || true) -eq 0 ]]
}

# good_client [WORK…]: is served, whatever was before, and nothing is left.
good_client() {
	local before errors

	before=$(ends) errors=$(errors)
	run_client 0 ./client -a "$address" "${@:-write}"
	says_nothing client.err
	await "a server that is done" served "$before"
	[[ $(errors) -eq $errors ]] || fail "the server said an error"
	await "an end of all queue pairs" no_queue_pairs
}

# refused PATTERN LINE: a peer that says LINE is refused in time, with PATTERN.
refused() {
	local before begin=$SECONDS

	before=$(errors)
	exec 3<>"/dev/tcp/$address/18515"
	printf '%s' "$2" >&3
	await "an error of the server's: $1" said_more "$before"
	exec 3>&-
	[[ $((SECONDS - begin)) -lt 30 ]] || fail "it took too long"
	[[ $(errors) -eq $((before + 1)) ]] || fail "more than one error: $1"
	tail -n 1 "$scratch/server.err" | grep -q "^error: .*$1" ||
		fail "the server does not say: $1"
	await "an end of all queue pairs" no_queue_pairs
}

# line FROM TO: a line of parameters with FROM replaced by TO.
line() {
	local good='RDMA 1 QPN 0x000011 PSN 0x123456 GID ::ffff:192.0.2.1 LID'

	good+=' 0x0000 MTU 1024 MODE write ADDR 0x55d0c0ffee00 RKEY 0x000007f1'
	good+=' LENGTH 1024'
	[[ $good == *"$1"* ]] || fail "no $1 in the line"
	printf '%s\nx' "${good/"$1"/"$2"}"
}

refuse_them() {
	local newline=$'\n' long

	printf -v long '%300s' ''
	start_server ./server -t 5 write
	refused 'nothing came within 5 s' ''
	refused 'nothing came within 5 s' 'RDMA 1 QPN'
	refused 'begin with RDMA' "GET / HTTP/1.1$newline"
	refused 'more than 256 bytes' "$long"
	refused 'version 2, this' "$(line 'RDMA 1' 'RDMA 2')"
	refused 'form of' "$(line 'MTU 1024' 'MTU 1000')"
	refused 'QPN 0x1 is not one' "$(line 0x000011 0x000001)"
	refused 'more than 24 bits' "$(line 0x123456 0x1000000)"
	refused 'GID is zero' "$(line ::ffff:192.0.2.1 ::)"
	refused 'multicast' "$(line ::ffff:192.0.2.1 ff02::1)"
	refused 'are allowed' "$(line 'LENGTH 1024' 'LENGTH 0')"
	refused 'end of the address space' \
		"$(line 0x55d0c0ffee00 0xfffffffffffffff0)"
	refused 'something other than READY' "$(line 'RDMA 1' 'RDMA 1')$newline"
	good_client
	stop_server
}

@test "03: a peer that is silent, or lies, is refused by name; the next is served" {
	FUNCTIONS='errors said_more ends served no_queue_pairs good_client
		refused line' on_device a refuse_them
}

# Of the server's last transfer, each request came back once: the receive, the WRITE
# and, if that succeeded, the message behind it; seen, or drained.
came_once() {
	awk '/About to post RDMA WRITE$/ { came = 0; posted = 2 }
		/^\[on_completion\]/ { came++ }
		/^\[on_completion\].*status=0 .*opcode=1,/ { posted = 3 }
		/^drained: / { came += $2 }
		END { exit came != posted }' "$scratch/server.log"
}

# A program whose peer dies says so in time, and leaves nothing behind.
killed_peers() {
	local before

	start_server ./server write
	good_client
	# The client, in the middle of a transfer: before its WRITE.
	before=$(errors)
	at 'ibv_post_send 1' kill
	start_client "${at[@]}" ./client -a "$address" write
	end_client 137
	await "an error of the server's" said_more "$before"
	says_one server.err '(receive|RDMA operation): status (5|10|12) '
	await "an end of all queue pairs" no_queue_pairs
	came_once || fail "a request came back twice, or not at all"
	good_client
	# The server.
	at 'ibv_post_send 1' stop
	start_client "${at[@]}" ./client -a "$address" -t 20 write
	await "a client that is about to write" state "$client" T
	kill -KILL "$server"
	wait "$server" || true
	server=''
	kill -CONT "$client"
	end_client 1
	[[ -s $scratch/client.err ]] || fail "the client said nothing"
	await "an end of all queue pairs" no_queue_pairs
}

@test "03: killed in a transfer, either side: the other says so and goes on" {
	FUNCTIONS='errors said_more ends served no_queue_pairs good_client came_once' \
		on_device a killed_peers
}

modes_and_signals() {
	start_server ./server read
	run_client 1 ./client -a "$address" write
	says_one client.err 'this side runs write and the peer read'
	await "an error of the server's" said_more 0
	says_one server.err 'this side runs read and the peer write'
	# The receive of each side came back.
	has_line client.log '^drained: 1 posted' ||
		fail "the client has not drained its receive"
	await "a receive that the server has drained" \
		has_line server.log '^drained: 1 posted'
	run_client 1 ./client -a "$address" -p 18516 read
	says_one client.err 'connect: Connection refused'
	run_client 1 ./client -a 127.0.0.1 read
	says_one client.err 'loopback address'
	run_client 1 ./client -a "$address" -g 200 read
	says_one client.err 'GID index 200'
	run_client 1 ./client -a "$address" -d none0 read
	says_one client.err 'device none0'
	good_client read
	kill -TERM "$server"
	end_of server "$server" 0
	server=''
	await "an end of all queue pairs" no_queue_pairs
}

@test "03: modes that differ, options that name nothing, SIGTERM" {
	FUNCTIONS='errors said_more ends served no_queue_pairs good_client' \
		on_device a modes_and_signals
}

link_down() {
	trap 'ip link set eth0 up; clean_up' EXIT
	start_server ./server write
	ip link set eth0 down
	await "a port that is down" has_line server.log \
		'^\[async\] port error \(port_num 1\)$'
	ip link set eth0 up
	await "a port that is up" has_line server.log \
		'^\[async\] port active \(port_num 1\)$'
	ip addr replace 2001:db8::1/64 dev eth0 nodad
	good_client
	stop_server
}

@test "03: a port that goes down and up is named, and the server serves on" {
	needs_lab
	FUNCTIONS='errors said_more ends served no_queue_pairs good_client' \
		on_device a link_down
}
