# 05_retries.bash - what chapter 05's client tries again with -r, and what not
#
# Sourced where the device is, after on_device.bash and 05_clients.bash.
# shellcheck shell=bash
# shellcheck disable=SC2154 # set by on_device.bash

# said_each_time CAUSE: each failure is an error that says CAUSE, and each but
# the last is followed by a new try, of which the story tells.
said_each_time() {
	[[ $(lines client.err "$1") -eq $(wc -l <"$scratch/client.err") ]] ||
		fail "not only: $1"
	[[ $(lines client.err "$1") -eq $(lines client.log 'trying again in ') ]] ||
		fail "not each failure is followed by a try"
}

# passing: a server that is not there yet, and one that is there and has no time.
# (One that is full: full_server.)
passing() {
	start_client ./client -a "$address" -r 1000 write
	await "a third try" has_lines client.log 'trying again in ' 3
	start_server ./server -t 60 write
	end_client 0
	said_each_time 'connect: Connection refused'
	kill -STOP "$server"
	await "a stopped server" state "$server" T
	start_client ./client -a "$address" -t 4 -r 1000 write
	await "a second try" has_lines client.log 'trying again in ' 2
	kill -CONT "$server"
	end_client 0
	said_each_time 'nothing came within 4 s'
	stop_server
	# As often as was said, and no more.
	run_client 1 ./client -a "$address" -r 2 write
	[[ $(lines client.err 'Connection refused') -eq 3 ]] ||
		fail "not three tries"
	has_lines client.log ' s, 2 of 2.' 1 || fail "no second of two"
}

# once STATUS CAUSE COMMAND…: it fails once, for this reason.
once() {
	local cause=$1

	shift
	run_client 1 "$@"
	has_lines client.err "$cause" 1 || fail "it does not say: $cause"
	[[ $(lines client.log 'trying again') -eq 0 ]] || fail "it tries again"
}

not_repeated() {
	./certs.sh "$scratch/other" >/dev/null
	start_server ./server -t 60 write
	# A certificate does not become better.
	once 'certificate verify failed' ./client -a "$address" -r 5 \
		-A "$scratch/other/ca.pem" write
	# Nor do words that do not fit, and both queue pairs are made by then.
	once 'this side runs read and the peer write' ./client -a "$address" \
		-r 5 read
	# The server dies while the client is connected and all is said.
	start_client ./client -a "$address" -r 5 -w 3600 write
	await "a client that holds" all_hold 1
	kill -KILL "$server"
	end_client 1
	has_lines client.err 'the server ended the connection' 1 ||
		fail "it does not say why"
	[[ $(lines client.log 'trying again') -eq 0 ]] || fail "it tries again"
	wait "$server" 2>/dev/null || true
	# It stops when the client has been let in, and has sent its parameters.
	at 'ibv_create_qp 1' stop
	start_server "${at[@]}" ./server -t 60 write
	once "the peer's parameters: nothing came within 6 s" \
		./client -a "$address" -t 6 -r 5 write
	await "a stopped server" state "$server" T
	kill -CONT "$server"
	stop_server
}
