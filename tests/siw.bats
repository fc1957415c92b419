#!/usr/bin/env bats
#
# siw.bats - the chapters that run over iWARP, on siw in a lab of its own: they
# count on the verbs and not on rxe; and what says that it does not run there
# shellcheck disable=SC2034,SC2154 # of helpers.bash

TEST_BUILDS=build/tests/siw
load lab
load helpers
export LAB_ENGINE=uml

setup_file() {
	export LAB_NAME=siw.$$ DEVICE=lab TEST_DEVICE_WHERE=lab
	lab up --device siw --nodes 2
}

teardown_file() {
	lab down
}

@test "siw: the lab says what it has, and gives no other device" {
	run -0 lab status
	[[ $output == *'node b: up, siw0 on eth0: 192.0.2.2'* ]]
	run -0 lab exec b -- scripts/setup_rxe.sh --quiet-check
	[[ $output == 192.0.2.2 ]]
	run -1 lab up --device rxe
	[[ $output == *'is up with siw, and rxe is asked for'* ]]
}

forty_clients() {
	local i

	for ((i = 0; i < 40; i++)); do
		run_client 0 ./client -a "$address"
		has_line client.log '^received message: message from passive' ||
			fail "client $i received no message"
	done
}

@test "siw: forty clients, one after another, and no first message is lost" {
	build_chapter 01_send_recv
	CHAPTER=01_send_recv between_nodes \
		'serve_until_eof ./server -a 192.0.2.1' forty_clients
}

@test "siw: the logged runs can be had again" {
	run -0 "$top/scripts/maint/siw_runs.sh"
	[[ $(grep -c 'matches$' <<<"$output") -ge 10 ]]
}

# meet CHAPTER SERVER CLIENT: both ends' words of a run, those of stderr with
# error: before them, in the folder run; the clients' own status is not looked at.
meet() {
	printf 'server: %s\nclient: %s\n' "$2" "$3" >"$BATS_TEST_TMPDIR/commands"
	"$top/scripts/pair.sh" -n 2 -d "$builds/$1.plain" \
		"$BATS_TEST_TMPDIR/commands" "$BATS_TEST_TMPDIR/run"
	said=$BATS_TEST_TMPDIR/run
}

# waits_its_turn ARGUMENTS…: a client that is connected and says nothing; the server
# has something to say, and says nothing either.
waits_its_turn() {
	start_server ./server -1 -t 3 -a "$address" "$@"
	at 'ibv_post_send 1' stop
	start_client "${at[@]}" ./client -a "$address" ${2:+write}
	await "a client that is about to send" state "$client" T
	end_of server "$server" 1
	server=''
	says_one server.err \
		"the client's message, which comes first over iWARP: nothing came within 3 s"
	kill -CONT "$client"
	end_client 1
}

@test "siw: 01's server, and 02's with -o first, wait until the client has sent" {
	build_chapter 01_send_recv
	build_chapter 02_write_read
	CHAPTER=01_send_recv on_device a waits_its_turn
	CHAPTER=02_write_read on_device a waits_its_turn -o first write
}

@test "siw: 07's write refuses, since iWARP has no immediate data" {
	build_chapter 07_full_speed
	meet 07_full_speed 'echo listening' \
		'./client -a 192.0.2.1 -R 9 write /etc/hostname'
	grep -x 'error: write: this device is iWARP, .*; use send or read' \
		"$said/client.err"
	[[ $(wc -l <"$said/client.err") -eq 1 ]]
	grep -x 'client: exit status 1' "$said/status.log"
}

@test "siw: 03, 04 and 05 say at once that they do not run there" {
	local chapter

	for chapter in $(chapters_where "$by_hand"); do
		build_chapter "$chapter"
		[[ ! -e $top/$chapter/certs.sh ]] ||
			(cd "$builds/$chapter.plain" && ./certs.sh >/dev/null)
		run -1 lab exec a -- env -C "$builds/$chapter.plain" \
			timeout 60 ./server write
		[[ $output == *'siw0 is an iWARP device, whose queue pairs only'* ]]
	done
}

@test "siw: without a kernel that has it, the lab says how to get one" {
	LAB_NAME=none.$LAB_NAME LAB_ENGINE=tcg run -1 lab up --device siw --nodes 1
	[[ $output == *'has no siw'*'make lab-kernel'*'LAB_ENGINE=tcg'* ]]
}
