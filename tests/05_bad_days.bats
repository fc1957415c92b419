#!/usr/bin/env bats
#
# 05_bad_days.bats - chapters 04 and 05 when a peer that was let in never stops
# talking; 05 when it is short of memory, when nobody reads what it says, when
# it is stopped in the middle, and when a client may not come

# shellcheck disable=SC2154 # the variables of on_device.bash
load helpers
load 05_clients

setup_file() {
	local chapter dir

	open_device
	for chapter in 04_tls_psn 05_multiclient; do
		dir=$top/build/tests/$chapter.plain
		chapter_update "$top/$chapter" "$dir"
		cp "$top/$chapter"/*.sh "$dir"
		make -s -j2 -C "$dir" CFLAGS='-O2 -g -Werror'
	done
	build_shim
	build_preloaded tests/hostile_post
	cc -std=gnu11 -Wall -Wextra -Werror -O2 -o "$top/build/tests/flood_keys" \
		"$top/tests/flood_keys.c" -lssl -lcrypto
}

# --- the functions below run on node a

# too_many WHAT: what is said of it.
too_many() { echo "$1: the peer has sent more than 16 key updates"; }

# flood_is_over PID: it was ended by the other side, and long before its time.
flood_is_over() {
	end_of flood "$1" 0
	[[ $((SECONDS - begin)) -lt 60 ]] ||
		fail "it took $((SECONDS - begin)) s"
}

# flooded_server ALPN: a client that sends nothing but key updates is given up,
# and the next one is served.
flooded_server() {
	local begin=$SECONDS

	start_server ./server -t 600 write
	start_client ../flood_keys client 4433 "$1" 240 "$address"
	flood_is_over "$client"
	await "an error" has_line server.err \
		"$(too_many "the peer's parameters")"
	run_client 0 ./client -a "$address" -t 60 write
	says_nothing client.err
	stop_server
	says_one server.err "$(too_many "the peer's parameters")"
}

# flooded_client ALPN: the same with a server that floods its client.
flooded_client() {
	local begin=$SECONDS

	start_server ../flood_keys server 4434 "$1" 240
	run_client 1 ./client -a "$address" -p 4434 -t 600 write
	says_one client.err "$(too_many hello)"
	flood_is_over "$server"
}

# processor_ms PID: for how long it has computed so far; nothing if it is gone.
processor_ms() {
	local stat

	read -r stat 2>/dev/null <"/proc/$1/stat" || return 0
	read -ra stat <<<"${stat##*) }"
	echo $((10 * (stat[11] + stat[12])))
}

# computes_little NAME PID COMMAND…: until COMMAND succeeds, the process may
# compute for three seconds. Who looks again without a wait does so all the time.
computes_little() {
	local name=$1 pid=$2 before now

	shift 2
	before=$(processor_ms "$pid") now=$before
	until "$@"; do
		now=$(processor_ms "$pid")
		[[ $((${now:-$before} - before)) -lt 3000 ]] ||
			fail "the $name computes: $((now - before)) ms"
		read -rt 0.1 -u "$silence" || true
	done
}
has_ended() { ! is_running "$client"; }

# hostile HOW: sets the array hostile, to go before a program: hostile_post.c.
hostile() {
	hostile=(env "HOSTILE=$1" "LD_PRELOAD=${shim%/*}/hostile_post.so")
}

# asked_server: clients that ask for key updates and do not read the answers, in
# the middle of the transfer and after it. Whoever comes next is served.
asked_server() {
	local how

	for how in keys late-keys; do
		hostile "$how"
		start_server ./server -t 30 write
		start_client "${hostile[@]}" ./client -a "$address" -t 60 write
		computes_little server "$server" \
			has_line server.err "$(too_many TLS)"
		end_client '[01]'
		run_client 0 ./client -a "$address" -t 60 write
		says_nothing client.err
		stop_server
		says_one server.err "$(too_many TLS)"
	done
}

# asked_client HOW ARGUMENT…: a client and a server that asks it.
asked_client() {
	hostile "$1"
	shift
	start_server "${hostile[@]}" ./server -t 60 write
	start_client ./client -a "$address" -t 30 "$@" write
	computes_little client "$client" has_ended
	end_client 1
	says_one client.err "$(too_many TLS)"
	await "an error of the server's" has_line server.err '^error: '
	stop_server
}

@test "04: a client that never stops talking is given up" {
	CHAPTER=04_tls_psn FUNCTIONS='flood_is_over too_many' LIMIT=150 \
		on_device a flooded_server rdma-params/2
}

@test "05: a client that never stops talking is given up" {
	CHAPTER=05_multiclient FUNCTIONS='flood_is_over too_many' LIMIT=150 \
		on_device a flooded_server rdma-params/3
}

@test "04: a server that never stops talking is given up" {
	CHAPTER=04_tls_psn FUNCTIONS='flood_is_over too_many' LIMIT=150 \
		on_device a flooded_client rdma-params/2
}

@test "05: a server that never stops talking is given up" {
	CHAPTER=05_multiclient FUNCTIONS='flood_is_over too_many' LIMIT=150 \
		on_device a flooded_client rdma-params/3
}

asked='too_many processor_ms computes_little has_ended hostile'

@test "04: a client that asks for key updates costs the server little" {
	CHAPTER=04_tls_psn FUNCTIONS=$asked LIMIT=150 on_device a asked_server
}

@test "05: a client that asks for key updates costs the server little" {
	CHAPTER=05_multiclient FUNCTIONS=$asked LIMIT=150 on_device a asked_server
}

@test "04: a server that asks for key updates costs the client little" {
	CHAPTER=04_tls_psn FUNCTIONS=$asked LIMIT=150 \
		on_device a asked_client keys
}

@test "05: a server that asks for key updates costs the client little" {
	CHAPTER=05_multiclient FUNCTIONS=$asked LIMIT=150 \
		on_device a asked_client keys
}

@test "05: the same while the client holds its connection" {
	CHAPTER=05_multiclient FUNCTIONS=$asked LIMIT=150 \
		on_device a asked_client late-keys -w 100
}

@test "05: as many clients as there is memory for are let in, others hear of it" {
	clients_on_device little_memory
}

@test "05: a server whose log nobody reads serves, and ends" {
	clients_on_device unread
}

@test "05: no server, and a client that is to make a million connections" {
	clients_on_device no_server
}

@test "05: what can pass by itself is tried again, with -r" {
	clients_on_device passing
}

@test "05: what cannot pass, or has begun, is not tried again" {
	clients_on_device not_repeated
}

@test "05: a client that may not come is refused, and the next one is served" {
	clients_on_device refused_clients
}
