#!/usr/bin/env bats
#
# ends.bats - how the programs of each chapter end before they are done: within two
# seconds of a signal, whatever they do; and whoever gives up tells the other end first
# shellcheck disable=SC2154 # the variables of on_device.bash

load helpers

setup_file() {
	local chapter plain

	open_device
	for chapter in $(asked_where 1); do
		plain=$top/build/tests/$chapter.plain
		mkdir -p "$plain"
		# make makes certificates with it.
		[[ ! -x $top/$chapter/certs.sh ]] || cp "$top/$chapter/certs.sh" "$plain"
		build_chapter "$chapter"
	done
}

# in_chapters TEST FUNCTION [ARGUMENT…]: the function in each of them.
in_chapters() {
	for CHAPTER in $(asked_where "$1"); do
		echo "$CHAPTER:"
		FUNCTIONS="work told signalled ends_soon listens_or_ended signalled_or_done ${FUNCTIONS:-}" \
			on_device a "${@:2}"
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
	*/0[34]_*) middle='ibv_post_send 1' ;;
	*/05_*)
		# Who is asked to stop would otherwise let its clients finish.
		serves=(-G 0 write) middle='ibv_post_send 1'
		;;
	*/08_*)
		serves=() asks=(-a "$address" -N 3 write)
		;;
	*/06_*)
		serves=(-a "$address" --transport tcp)
		asks=(-a "$address" --transport tcp -n 20 count)
		;;
	esac
}

# told WHO: its last error blames neither the network nor a peer that is gone.
told() {
	local last

	[[ -s $scratch/$1.err ]] || fail "the $1 says no error"
	last=$(tail -n 1 "$scratch/$1.err")
	[[ $last =~ 'error: '.*': status 5 ' ]] ||
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
	has_line server.err 'given up, since this program was asked to stop$' ||
		fail "the server does not say why it ends"
}

@test "01 to 05, 07: a server that is asked to stop tells its client first" {
	in_chapters "$on_rxe && chapter !~ /^08/" server_stops
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
	await "an error of the server's" has_line server.err 'error: '
	told server
	kill -CONT "$client"
	end_client 1
	says_one client.err 'nothing came within 2 s'
	stop_server
}

@test "01 to 05, 07: a client that gives up tells its server first" {
	in_chapters "$on_rxe && chapter !~ /^08/" client_gives_up
}

# signalled CALL SIGNAL: sets the array at: a program that gets the signal at that
# call, and is killed if it has not ended two seconds later. A shell has jobs in the
# background ignore SIGINT.
signalled() {
	at "$1" "$2"
	at=(env --default-signal=INT "${at[@]:1}")
}

# ends_soon WHO STATUS: the server or client that has just got a signal.
ends_soon() {
	local begin=${EPOCHREALTIME/./} ms

	end_of "$1" "${!1}" "$2"
	ms=$(((${EPOCHREALTIME/./} - begin) / 1000))
	[[ $ms -lt 2000 ]] || fail "the $1 ended $ms ms after the signal"
}

# client_at STEP: a client gets a signal at its first call, its STEP + 1st and so on,
# until there is no such call any more. Most leave signals as they are.
client_at() {
	local n=1 times=0 signal=term status

	work
	start_server ./server -t 20 "${serves[@]}"
	while :; do
		signalled "$n" "$signal"
		status='[01]'
		grep -rq wait_for_signals "$build" --include=client.c ||
			case $signal in
			term) status=143 ;;
			int) status=130 ;;
			esac
		start_client "${at[@]}" ./client -t 60 "${asks[@]}"
		ended=0
		wait "$client" || ended=$?
		client=''
		[[ -s $scratch/at_call ]] || break
		# shellcheck disable=SC2053 # a pattern
		[[ $ended == $status ]] || fail "$signal at call $n: it ended with $ended"
		times=$((times + 1)) n=$((n + $1))
		[[ $signal == int ]] && signal=term || signal=int
	done
	[[ $ended -eq 0 && $times -ge 4 ]] || fail "$times signals, then $ended"
	stop_server
	echo "$times signals"
}

# server_at STEP: the same with a server, which ends with 0 each time.
server_at() {
	local n=1 times=0 signal=term

	work
	while :; do
		signalled "$n" "$signal"
		: >"$scratch/server.log"
		"${at[@]}" ./server -t 60 "${serves[@]}" >"$scratch/server.log" \
			2>"$scratch/server.err" &
		server=$!
		await "a server that listens, or has ended" listens_or_ended
		start_client ./client -t 5 "${asks[@]}"
		wait "$client" || true
		client=''
		# It may get there only when its client has gone.
		await "a server that got its signal, or is done" signalled_or_done
		[[ -s $scratch/at_call ]] || break
		end_of "server ($signal at call $n)" "$server" 0
		times=$((times + 1)) n=$((n + $1))
		[[ $signal == int ]] && signal=term || signal=int
	done
	[[ $times -ge 4 ]] || fail "$times signals"
	stop_server
	echo "$times signals"
}
listens_or_ended() {
	has_line server.log '^listening' || ! is_running "$server"
}
signalled_or_done() {
	[[ -s $scratch/at_call ]] || server_is_done
}

@test "01 to 04, 08: a client ends at once if it gets a signal, at one call after another" {
	in_chapters "$on_rxe && chapter !~ /^0[57]/" client_at 9
}

@test "05 and 07: a client ends in order if it gets a signal, at one call after another" {
	in_chapters 'chapter ~ /^0[57]/' client_at 7
}

@test "01 to 05, 07, 08: so does a server" {
	in_chapters "$on_rxe" server_at 7
}

@test "06: so do a client and a server" {
	needs_lab
	device_run a scripts/setup_rds.sh tcp
	in_chapters 'devices == "rds"' client_at 7
	in_chapters 'devices == "rds"' server_at 9
}

# Work of which each piece is done before anybody looks for it: a program that only
# listens to signals while it sleeps never does.
never_sleeps() {
	truncate -s 400M "$scratch/large"
	mkdir "$scratch/in"
	start_server ./server -B -d "$scratch/in"
	signalled 'ibv_post_send 50' int
	run_client 1 "${at[@]}" ./client -a "$address" -b 64 -q 16 -n 10000000
	says_one client.err 'a completion: given up, since this program was asked'
	signalled 'ibv_post_send 50' term
	run_client 1 "${at[@]}" ./client -a "$address" send "$scratch/large"
	says_one client.err 'given up, since this program was asked to stop$'
	await "a server that is done with the clients" server_is_done
	stop_server
	signalled 'ibv_post_recv 100' int
	start_server "${at[@]}" ./server -d "$scratch/in"
	run_client 1 ./client -a "$address" send "$scratch/large"
	end_of server "$server" 0
	server=''
	says_one server.err 'given up, since this program was asked to stop$'
}

@test "07: a signal ends what never sleeps: a benchmark, and a large file at either end" {
	in_chapters 'chapter ~ /^07/' never_sleeps
}

# A name server that hears, and does not answer.
silent_names() {
	cp /etc/resolv.conf "$scratch/resolv.conf"
	trap 'kill "$resolver"; cat "$scratch/resolv.conf" >/etc/resolv.conf; clean_up' EXIT
	echo 'nameserver 127.0.0.1' >/etc/resolv.conf
	: >"$scratch/resolver.log"
	python3 -c 'import socket
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(("127.0.0.1", 53))
while True: print("listening", flush=True); server.recvfrom(512)' >"$scratch/resolver.log" &
	resolver=$!
	await "a name server" asked 0
	work
	# Chapter 06 wants an address already.
	[[ ${serves[*]} == *"$address"* ]] || serves+=(-a "$address")
	while_resolving INT 130 ./client "${asks[@]/$address/server.example}"
	while_resolving TERM 143 ./server "${serves[@]/$address/server.example}"
}

# while_resolving SIGNAL STATUS PROGRAM…: the signal while it waits for an answer.
while_resolving() {
	count_lines resolver.log listening
	start_client env --default-signal=INT "${@:3}"
	await "a question" asked $((count + 1))
	kill "-$1" "$client"
	ends_soon client "$2"
	client=''
}
asked() {
	count_lines resolver.log listening
	[[ $count -gt $1 ]]
}

@test "01 to 08: a signal ends a program whose name server is silent" {
	local FUNCTIONS='while_resolving asked'

	needs_lab
	in_chapters 1 silent_names
}

# Before anything is opened.
wrong_usage() {
	local program

	for program in server client; do
		run_client 2 "./$program" --odd
		says_nothing client.log
		says_one client.err '^error: --odd: no such option here; see -h$'
	done
}

@test "01 to 08: wrong usage ends a program with status 2" {
	in_chapters 1 wrong_usage
}
