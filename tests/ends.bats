#!/usr/bin/env bats
#
# ends.bats - how the programs of each chapter end before they are done: whoever
# gives up tells the other end first
# shellcheck disable=SC2154 # the variables of on_device.bash

bats_require_minimum_version 1.5.0
load helpers

setup_file() {
	local chapter

	open_device
	for chapter in "$top"/0[127]_*; do
		build_chapter "${chapter##*/}"
	done
}

teardown_file() {
	close_device
}

# in_chapters NUMBERS FUNCTION [ARGUMENT…]: the function in each of them.
in_chapters() {
	local chapter

	for chapter in $1; do
		CHAPTER=$(basename "$top/$chapter"_*)
		echo "$CHAPTER:"
		FUNCTIONS='work told' on_device a "${@:2}"
	done
}

# --- the functions below run on node a

# Sets the arrays serves and asks, what a server and a client are told to do;
# middle, a call before which either of them is waited for by the other, and
# busy, what a server that waits has said by then.
work() {
	serves=(write) asks=(-a "$address" write) middle='ibv_post_send 2' busy=''
	case $build in
	*/01_*)
		serves=() asks=(-a "$address") middle='ibv_post_send 1'
		busy='^send completed'
		;;
	*/07_*)
		mkdir -p "$scratch/in"
		[[ -e $scratch/file ]] || head -c 3000000 /dev/urandom >"$scratch/file"
		serves=(-d "$scratch/in") middle='ibv_post_send 6'
		asks=(-q 4 -b 4096 -a "$address" send "$scratch/file")
		;;
	esac
}

# told WHO: its last error blames neither the network nor a peer that is gone.
told() {
	local last

	[[ -s $scratch/$1.err ]] || fail "the $1 says no error"
	last=$(tail -n 1 "$scratch/$1.err")
	[[ $last =~ ^'error: '.*': status 5 ' ]] ||
		fail "the $1 does not read that the other end has left"
}

# A server that gets Ctrl-C in the middle, and is slow to give memory back.
server_stops() {
	local stopped

	work
	at 'ibv_dereg_mr 1' stop
	start_server "${at[@]}" ./server -t 60 "${serves[@]}"
	stopped=$server
	at "$middle" stop
	start_client "${at[@]}" ./client -t 60 "${asks[@]}"
	await "a client that stops in the middle" state "$client" T
	await "a server that waits for it" has_line server.log "$busy"
	kill -INT "$server"
	await "a server that is about to free its memory" state "$stopped" T
	kill -CONT "$client"
	end_client 1
	told client
	kill -CONT "$server"
	end_of server "$server" 0
	server=''
	says_one server.err 'given up, since this program was asked to stop$'
}

@test "01, 02, 07: a server that is asked to stop tells its client first" {
	in_chapters '01 02 07' server_stops
}

# A client that has waited for long enough, and is slow to give memory back.
client_gives_up() {
	work
	at "$middle" stop
	start_server "${at[@]}" ./server -t 60 "${serves[@]}"
	at 'ibv_dereg_mr 1' stop
	start_client "${at[@]}" ./client -t 2 "${asks[@]}"
	await "a server that stops in the middle" state "$server" T
	await "a client that is about to free its memory" state "$client" T
	kill -CONT "$server"
	await "a server that is done with the client" server_is_done
	told server
	kill -CONT "$client"
	end_client 1
	says_one client.err 'a completion: nothing came within 2 s'
	stop_server
}

@test "01, 02, 07: a client that gives up tells its server first" {
	in_chapters '01 02 07' client_gives_up
}
