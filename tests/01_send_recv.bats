#!/usr/bin/env bats
#
# 01_send_recv.bats - chapter 01 when all goes well: texts of every kind between two nodes, a hundred clients
# shellcheck disable=SC2154 # the variables of on_device.bash

load helpers
CHAPTER=01_send_recv

setup_file() {
	open_device
	build_chapter "$CHAPTER"
}

# On node b: names and addresses of the server, then texts.
send_texts() {
	local name text

	for name in 192.0.2.1 2001:db8::1 a; do
		run_client 0 ./client -a "$name" -s "to $name"
		says_nothing client.err
		grep '^received message' "$scratch/client.log"
	done
	for text in '' "$(printf 'x%.0s' {1..1024})" 'no "%s" \n here' \
		'你好，这是一条测试消息。' \
		$'\e[31mred\a\n\x7f \xc2\x9b1m \xe4\xbd'; do
		run_client 0 ./client -a a -s "$text"
		says_nothing client.err
	done
	run_client 0 ./client -a a
	echo "pid $client_pid"
}

@test "01: IPv4, IPv6, a name; no text, 1024 bytes, Chinese, control bytes" {
	local said pid client_pid expected

	between_nodes 'serve_until_eof ./server' send_texts
	client_pid=${lines[3]#pid }
	# Each client received what the server with this pid sent.
	expected="received message: message from passive/server side with pid $pid"
	[[ ${lines[0]} == "$expected" && ${lines[1]} == "$expected" &&
		${lines[2]} == "$expected" ]]
	grep '^received message: ' <<<"$said" >"$BATS_TEST_TMPDIR/got"
	sed 's/^/received message: /' >"$BATS_TEST_TMPDIR/want" <<-END
		to 192.0.2.1
		to 2001:db8::1
		to a

		$(printf 'x%.0s' {1..1024})
		no "%s" \n here
		你好，这是一条测试消息。
		\x1b[31mred\x07\x0a\x7f \xc2\x9b1m \xe4\xbd
		message from active/client side with pid $client_pid
	END
	diff "$BATS_TEST_TMPDIR/want" "$BATS_TEST_TMPDIR/got"
	# Nothing went wrong, and every one disconnected.
	run -1 grep '^error' <<<"$said"
	run -0 grep -c '^peer disconnected' <<<"$said"
	[[ $output -eq 9 ]]
}

# clients FIRST LAST: one after another, each of which must be served.
clients() {
	local i

	for ((i = $1; i <= $2; i++)); do
		./client -a "$address" -s "number $i" >"$scratch/client.$1" ||
			return 1
	done
}

hundred_clients() {
	local before memory after half

	start_server ./server
	clients 1 5 || fail "one of the first five clients"
	await "an idle server" server_is_done
	await "a server without a queue pair" no_queue_pair
	before=$(objects_of_server) memory=$(memory_of_server)
	# Two at a time, so that some have to wait.
	clients 6 52 &
	half=$!
	clients 53 100 || fail "one of clients 53 to 100"
	wait "$half" || fail "one of clients 6 to 52"
	await "an idle server" server_is_done
	soon objects_are "$before" ||
		fail "after 5 clients: $before; after 100: $after"
	memory=$(($(memory_of_server) - memory))
	[[ $memory -lt 512 ]] || fail "it uses $memory kB more"
	count_lines server.log '^received message: number '
	[[ $count -eq 100 ]] || fail "the server received $count messages"
	all_acknowledged
	stop_server
	echo "$after; memory +$memory kB"
}

# The server has no error to tell. But on a busy machine a client may have the
# message, and leave, before its device has acknowledged it: then the server's send
# is flushed. That is so of one client in hundreds.
all_acknowledged() {
	local errors

	count_lines server.err ''
	errors=$count
	[[ $errors -le 2 ]] || fail "the server said $errors errors"
	count_lines server.err '^error: send: status 5 '
	[[ $count -eq $errors ]] || fail "the server said another error"
	count_lines server.log '^send completed successfully'
	[[ $((count + errors)) -eq 100 ]] || fail "$count sends were completed"
}

@test "01: after 100 clients no object, descriptor or memory is left behind" {
	FUNCTIONS='clients all_acknowledged' \
		on_device a hundred_clients
}
