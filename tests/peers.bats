#!/usr/bin/env bats
#
# peers.bats - what all chapters make of a peer that does one thing wrong, and in
# which order they make their own calls. The same functions for every chapter: a
# chapter that bears a file anew must pass what the file passed before.

# shellcheck disable=SC2154 # set by helpers.bash and on_device.bash
# bats file_tags=chapters
load helpers

mapfile -t chapters < <(asked_where "$in_pairs")

setup_file() {
	local chapter dir

	open_device
	for chapter in "${chapters[@]}"; do
		dir=$top/build/tests/$chapter.plain
		chapter_update "$top/$chapter" "$dir"
		[[ ! -e $top/$chapter/certs.sh ]] ||
			cp "$top/$chapter/certs.sh" "$dir"
		make -s -j2 -C "$dir" CFLAGS='-O2 -g -Werror'
	done
	build_shim
	build_preloaded tests/hostile_post tests/hostile_07 scripts/lib/calls
}

# each TEST FUNCTION [ARGUMENT…]: in each chapter for which that is true.
each() {
	local chapter

	for chapter in $(asked_where "$1"); do
		echo "chapter $chapter"
		CHAPTER=$chapter FUNCTIONS='words hostile has_errors good_client
			end_any certificates' on_device a "${@:2}" || return
	done
}

# --- the functions below run on node a

# The word that all but 01 want; in $mode, if there is one.
words() {
	words=()
	[[ $build == */01_* ]] || words=("${mode:-write}")
}

# hostile HOW: sets the array hostile, to go before a program: hostile_post.c.
hostile() {
	hostile=(env "HOSTILE=$1" "LD_PRELOAD=${shim%/*}/hostile_post.so")
}

has_errors() {
	count_lines server.err '^error: '
	[[ $count -ge $1 ]]
}

good_client() {
	run_client 0 ./client -a "$address" "${words[@]}"
	says_nothing client.err
}

# However it ends: that is its own affair.
end_any() {
	wait "$client" || true
	client=''
}

imm_client() {
	words
	hostile imm
	start_server ./server "${words[@]}"
	start_client "${hostile[@]}" ./client -a "$address" "${words[@]}"
	end_any
	await "an error of the server's" has_errors 1
	good_client
	stop_server
	says_one server.err 'protocol error: a completion with opcode 129'
}

@test "a client that writes with immediate data: a protocol error, told once" {
	each "$in_pairs" imm_client
}

imm_server() {
	words
	hostile imm
	start_server "${hostile[@]}" ./server "${words[@]}"
	run_client 1 ./client -a "$address" "${words[@]}"
	says_one client.err 'protocol error: a completion with opcode 129'
	stop_server
}

@test "a server that writes with immediate data: the same" {
	each "$in_pairs" imm_server
}

# Neither the queue pair nor the region may allow what the mode does not need.
other_operation() {
	local mode

	hostile other
	for mode in write read; do
		words
		start_server ./server "${words[@]}"
		run_client 1 "${hostile[@]}" ./client -a "$address" "${words[@]}"
		says_one client.err 'RDMA operation: status (9|10) '
		await "an error of the server's" has_errors 1
		stop_server
		says_one server.err
		start_server "${hostile[@]}" ./server "${words[@]}"
		run_client 1 ./client -a "$address" "${words[@]}"
		says_one client.err
		await "an error of the server's" has_errors 1
		stop_server
		says_one server.err 'RDMA operation: status (9|10) '
	done
}

@test "a peer that reads in the mode write, or writes in the mode read: refused" {
	each "$in_pairs && chapter !~ /^01/" other_operation
}

# regions: the access of each region that a server and a client register. 1 is
# LOCAL_WRITE, 2 REMOTE_WRITE, 4 REMOTE_READ.
regions() {
	local mode wanted

	for mode in write:'1 0 3' read:'1 1 4'; do
		wanted=${mode#*:} mode=${mode%:*}
		words
		rm -f "$scratch"/trace.*
		start_server env "CALLS=$scratch/trace.server" \
			"LD_PRELOAD=${shim%/*}/calls.so" ./server "${words[@]}"
		run_client 0 env "CALLS=$scratch/trace.client" \
			"LD_PRELOAD=${shim%/*}/calls.so" \
			./client -a "$address" "${words[@]}"
		stop_server
		for end in server client; do
			[[ $(sed -n 's/^reg_mr .*access=0x//p' "$scratch/trace.$end" |
				tr '\n' ' ') == "$wanted " ]] ||
				fail "$mode: the $end does not register $wanted"
		done
	done
}

@test "each region has the least access that its mode needs" {
	each "$in_pairs && chapter !~ /^01/" regions
}

# quiet END: no region was deregistered while a request was posted, and the CQ
# was armed once, and once more after each event.
quiet() {
	awk -v end="$1" '
	/^post_/ { posted++ }
	/^not posted/ { posted-- }
	/^completion/ { polled++ }
	/^dereg_mr/ && posted != polled {
		print end ": freed with " posted - polled " requests posted"
		bad = 1
	}
	/^dereg_mr/ { freed++ }
	/^req_notify_cq/ { armed++ }
	/^get_cq_event/ { events++ }
	END {
		if (!freed || !posted || !armed) {
			print end ": this is no trace"
			bad = 1
		}
		if (armed != conversations + events) {
			print end ": armed " armed " times, for " events " events"
			bad = 1
		}
		exit bad
	}' conversations="${2:-1}" "$scratch/trace.$1" || fail "$1: see trace"
}

# The server has failed, or has all that it wanted: it may have, although the
# client fails in the end.
is_over() { has_errors 1 || grep -q 'peer disconnected' "$scratch/server.log"; }

# In a good conversation, and in those that fail on one side or the other.
orders() {
	local trace=${shim%/*}/calls.so call

	words
	for call in none 'ibv_post_send 1' 'ibv_poll_cq 2'; do
		rm -f "$scratch"/trace.*
		start_server env "CALLS=$scratch/trace.server" "LD_PRELOAD=$trace" \
			./server -t 20 "${words[@]}"
		at "$call" fail
		start_client "${at[@]}" "CALLS=$scratch/trace.client" \
			"LD_PRELOAD=$trace $shim" \
			./client -a "$address" "${words[@]}"
		end_any
		await "the end of the server's conversation" is_over
		stop_server
		quiet client
		quiet server
	done
	# A server that fails as nothing has come yet has its receives posted.
	rm -f "$scratch"/trace.*
	at 'ibv_post_send 1' fail
	start_server "${at[@]}" "CALLS=$scratch/trace.server" "LD_PRELOAD=$trace $shim" \
		./server -t 20 "${words[@]}"
	start_client ./client -a "$address" "${words[@]}"
	end_any
	await "the end of the server's conversation" is_over
	stop_server
	quiet server
}

@test "no memory is freed while a request uses it; armed once for each event" {
	local chapter

	for chapter in "${chapters[@]}"; do
		echo "chapter $chapter"
		CHAPTER=$chapter FUNCTIONS='words has_errors is_over end_any quiet' \
			on_device a orders
	done
}

# The goodbye is what makes the end of TCP a success.
no_goodbye() {
	local how

	words
	for how in mute reset; do
		hostile "$how"
		start_server ./server "${words[@]}"
		start_client "${hostile[@]}" ./client -a "$address" "${words[@]}"
		end_client 1
		says_one client.err 'connection ended without a goodbye'
		await "an error of the server's" has_errors 1
		good_client
		stop_server
		says_one server.err 'connection ended without a goodbye'
		count_lines server.log 'peer disconnected\.$'
		[[ $count -eq 1 ]] || fail "peer disconnected: $count times"
	done
}

@test "a TCP connection that ends without a goodbye is an error" {
	each "$by_hand" no_goodbye
}

small_mtu() {
	words
	hostile small
	start_server ./server "${words[@]}"
	run_client 0 "${hostile[@]}" ./client -a "$address" "${words[@]}"
	stop_server
	has_line server.log 'path_mtu=256,' || fail "the server's is larger"
	has_line client.log 'path_mtu=256,' || fail "the client's is larger"
	start_server "${hostile[@]}" ./server "${words[@]}"
	good_client
	stop_server
	has_line client.log 'path_mtu=256,' || fail "the client's is larger"
	says_nothing server.err
}

@test "the path has the MTU of the smaller port" {
	each "$by_hand" small_mtu
}

psn_zero() {
	words
	start_server ./server -1 -P 0 "${words[@]}"
	run_client 0 ./client -P 0 -a "$address" "${words[@]}"
	has_line client.log 'Local PSN: 0x000000, Remote PSN: 0x000000$' ||
		fail "0 is not what -P 0 gives"
	has_line client.log 'sq_psn=0x000000,' || fail "0 is not used"
	end_of server "$server" 0
	server=''
}

@test "-P 0 is the PSN 0, and not any" {
	each "$by_hand" psn_zero
}

# To C, 010 is 8.
psn_octal() {
	words
	start_server ./server -1 -P 010 "${words[@]}"
	run_client 0 ./client -P 0x010 -a "$address" "${words[@]}"
	has_line client.log 'Local PSN: 0x000010, Remote PSN: 0x00000a$' ||
		fail "010 is not ten, or 0x010 not sixteen"
	end_of server "$server" 0
	server=''
}

@test "-P 010 is the PSN 10: no number is octal" {
	each "$by_hand" psn_octal
}

# A message of type 3, which only chapter 08 knows, in the place of the first one:
# MSG_MR, or where the parameters went another way MSG_DONE.
other_type() {
	local type=1

	words
	[[ ! -e $build/params.c ]] || type=2
	start_server ./server "${words[@]}"
	start_client env "LD_PRELOAD=${shim%/*}/hostile_07.so" \
		"HOSTILE=RDMA $type 1 5=3" ./client -a "$address" "${words[@]}"
	end_any
	await "an error of the server's" has_errors 1
	good_client
	stop_server
	says_one server.err 'a message of the unknown type 3$'
}

@test "a message of a type that is not the chapter's: refused by its number" {
	each "$in_pairs && chapter !~ /^01/" other_type
}

# certificates NAMES: for 04 and 05; sets of_server and of_client, options.
certificates() {
	local dir=$build/two_devices

	of_server=() of_client=()
	[[ -e certs.sh ]] || return 0
	rm -rf "$dir"
	./certs.sh --names "$1" "$dir"
	of_server=(-A "$dir/ca.pem" -C "$dir/server.pem" -K "$dir/server.key")
	of_client=(-A "$dir/ca.pem" -C "$dir/client.pem" -K "$dir/client.key")
}

# Which address is reached by which device: the one without the first device's.
two_devices() {
	# The device cannot go while a program has it open.
	trap 'clean_up; rdma link delete rxe7; ip link delete dummy7' EXIT
	words
	ip link add dummy7 type dummy
	ip address add 198.51.100.7/24 dev dummy7
	ip link set dummy7 up
	rdma link add rxe7 type rxe netdev dummy7
	certificates IP:192.0.2.1,IP:198.51.100.7
	start_server ./server "${of_server[@]}" "${words[@]}"
	for to in "$address" 198.51.100.7 "$address"; do
		run_client 0 ./client "${of_client[@]}" -a "$to" "${words[@]}"
		says_nothing client.err
	done
	has_line server.log 'local: .*GID ::ffff:198\.51\.100\.7,' ||
		fail "the server has not used the second device"
	stop_server
	says_nothing server.err
	# With an address to listen on, only that one's.
	start_server ./server "${of_server[@]}" -a 198.51.100.7 "${words[@]}"
	run_client 0 ./client "${of_client[@]}" -a 198.51.100.7 "${words[@]}"
	stop_server
	count_lines server.log 'Opened RDMA device: rxe7'
	[[ $count -eq 1 ]] || fail "rxe7 was opened $count times"
	count_lines server.log 'RDMA device: rxe0'
	[[ $count -eq 0 ]] || fail "rxe0 was opened"
}

@test "two devices: each client is met by the one that has its address" {
	needs_lab
	each "$by_hand" two_devices
}

# The lowest descriptor that a process has not: its next one.
next_descriptor() {
	local fd=0

	while [[ -e /proc/$1/fd/$fd ]]; do
		fd=$((fd + 1))
	done
	echo "$fd"
}

ended_or_repeats() { has_errors 2 || ! is_running "$server"; }

# A server that cannot accept says so once, and does not fill the disk with it.
no_descriptors() {
	words
	start_server ./server "${words[@]}"
	good_client
	await "a server with nobody" no_queue_pair
	prlimit --pid "$server" --nofile="$(next_descriptor "$server")":1024
	run_client 1 ./client -t 5 -a "$address" "${words[@]}"
	if [[ -e $build/plumbing/cm_help.c ]]; then
		await "an error of the server's" has_errors 1
		says_one server.err 'Too many open files'
		prlimit --pid "$server" --nofile=1024:1024
		good_client
		stop_server
	else
		await "a server that ends" ended_or_repeats
		! has_errors 2 || fail "the server says it again and again"
		end_of server "$server" 1
		server=''
	fi
	says_one server.err 'Too many open files' 'ulimit -n'
}

@test "no descriptor is left for a client: told once, never in a loop" {
	local chapter

	for chapter in $(asked_where "$in_pairs && chapter !~ /^05/"); do
		echo "chapter $chapter"
		CHAPTER=$chapter FUNCTIONS='words has_errors good_client next_descriptor
			ended_or_repeats' \
			on_device a no_descriptors
	done
}

# Of a name's two addresses the first fails: what was made for it is given back.
second_address() {
	local trace=${shim%/*}/calls.so

	words
	start_server ./server "${words[@]}"
	at 'rdma_resolve_addr 1' fail
	run_client 0 "${at[@]}" "CALLS=$scratch/trace" "LD_PRELOAD=$trace $shim" \
		./client -a node-a "${words[@]}"
	[[ -s $scratch/at_call ]] || fail "nothing has failed"
	says_one client.err 'rdma_resolve_addr: Input/output'
	# One of them is the library's own.
	[[ $(grep -c '^create_id 0$' "$scratch/trace") -eq 3 &&
		$(grep -c '^destroy_id ' "$scratch/trace") -eq 3 ]] ||
		fail "the id of the first address is lost"
	stop_server
}

@test "a name's first address fails: the second is taken, and nothing lost" {
	local chapter

	needs_lab
	for chapter in $(asked_where "$with_cm && $in_pairs"); do
		CHAPTER=$chapter FUNCTIONS=words on_device a second_address
	done
}
