#!/usr/bin/env bats
#
# 04_tls_psn.bats - chapter 04: two nodes, and every peer that must be turned
# away

# shellcheck disable=SC2030,SC2031,SC2154 # bats' subshells; set by helpers.bash
# shellcheck disable=SC2026,SC2119,SC2120
load helpers
CHAPTER=04_tls_psn

# Both builds have the same certificates, and others that are wrong.
setup_file() {
	local plain=$top/build/tests/$CHAPTER.plain
	local sanitized=$top/build/tests/$CHAPTER.sanitized
	local flags='-O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined'

	open_device
	chapter_update "$top/$CHAPTER" "$plain"
	chapter_update "$top/$CHAPTER" "$sanitized"
	cp "$top/$CHAPTER/certs.sh" "$plain"
	cp "$top/$CHAPTER/certs.sh" "$sanitized"
	make -s -j2 -C "$plain" CFLAGS='-O1 -g -Werror'
	make -s -j2 -C "$sanitized" CFLAGS="$flags -Werror \
		-fno-sanitize-recover=undefined"
	"$plain/certs.sh" "$plain/other"
	rm -rf "$sanitized/certs" "$sanitized/other"
	cp -r "$plain/certs" "$plain/other" "$sanitized"
}

# It stands still while the programs run, and for two seconds after that.
@test "04: the observer of plain_exchange has all of it, however slow the capture is" {
	local bin=$top/build/tests/$CHAPTER.bin

	needs_lab
	"$top/scripts/break.sh" --prepare 04 plain_exchange
	mkdir -p "$bin"
	cat >"$bin/tcpdump" <<-'END'
		#!/bin/bash
		{
			until pgrep -x server; do sleep 0.02; done
			kill -STOP $$
			while pgrep -x server; do sleep 0.1; done
			sleep 2
			kill -CONT $$
		} </dev/null >/dev/null 2>&1 &
		exec /usr/bin/tcpdump "$@"
	END
	chmod +x "$bin/tcpdump"
	run -0 device_run a bash -c 'PATH=$1:$PATH && cd "$2" &&
		exec ./plain_exchange.sh 192.0.2.1' bash "$bin" \
		"$top/build/break/$CHAPTER/plain_exchange"
	[[ $(grep -c '^RDMA 1 QPN 0x.* PSN 0x' <<<"$output") -eq 2 ]]
	[[ $output == *'HELLO RDMA 1'*'chapter 04'*'rdma-params/2' ]]
}

# psns FILE: local and remote, as its log says.
psns() {
	sed -n 's/^Local PSN: \(0x[0-9a-f]\{6\}\), Remote PSN: \(0x[0-9a-f]\{6\}\)$/\1 \2/p' \
		"$1"
}

@test "04: between two nodes, each side's local PSN is the other's remote" {
	local out=$BATS_TEST_TMPDIR/run server client
	local -A seen=()

	needs_lab
	for _ in 1 2 3; do
		run_matches "$top/$CHAPTER/expected/write/commands" \
			"$top/$CHAPTER/expected/write" \
			-n 2 -d "$top/build/tests/$CHAPTER.plain"
		server=$(psns "$out/server.log")
		client=$(psns "$out/client.log")
		[[ $server == 0x??????' '0x?????? ]]
		[[ $client == "${server#* } ${server% *}" ]]
		# What the device has, too.
		grep -q "sq_psn=${server% *}," "$out/server.log"
		grep -q "rq_psn=${server% *}," "$out/client.log"
		seen[${server% *}]=1 seen[${server#* }]=1
	done
	# Two PSNs of six are equal once in a million runs of this test.
	[[ ${#seen[@]} -eq 6 ]]
}

# --- the functions below run on node a

queue_pairs() { rdma resource show qp | grep -c 'pid' || true; }
server_errors() { wc -l <"$scratch/server.err"; }
said_more() { [[ $(server_errors) -gt $1 ]]; }
served() { [[ $(grep -c '^peer disconnected' "$scratch/server.log") -gt $1 ]]; }
no_queue_pairs() { [[ $(queue_pairs) -eq 0 ]]; }

# good_client [OPTION…]: is served, whatever was before.
good_client() {
	local before errors

	before=$(grep -c '^peer disconnected' "$scratch/server.log") || true
	errors=$(server_errors)
	run_client 0 ./client -a "$address" "$@" write
	says_nothing client.err
	grep -q '^remote buffer: message from passive/server side' \
		"$scratch/client.log" || fail "the client was not served"
	await "a server that is done" served "$before"
	[[ $(server_errors) -eq $errors ]] || fail "the server said an error"
}

# refused SERVER CLIENT COMMAND…: the server says one more error, with SERVER,
# and the command on stderr one with CLIENT (- for any), both in time. Nothing is
# left behind, and the next client is served (under sanitizers, which take their
# time, that is seen in the end).
refused() {
	local server_says=$1 client_says=$2 errors begin=$SECONDS

	shift 2
	errors=$(server_errors)
	"$@" </dev/null >"$scratch/client.log" 2>"$scratch/client.err" || true
	await "an error of the server's: $server_says" said_more "$errors"
	# The server's own deadline, and what a busy machine takes.
	[[ $((SECONDS - begin)) -lt 60 ]] || fail "it took too long"
	[[ $(server_errors) -eq $((errors + 1)) ]] ||
		fail "the server said more than one error"
	tail -n 1 "$scratch/server.err" | grep -q "^error: .*$server_says" ||
		fail "the server does not say: $server_says"
	[[ $client_says == - ]] || says_one client.err "$client_says"
	await "an end of all queue pairs" no_queue_pairs
	[[ $build == *sanitized ]] || good_client
}

tcp_peer() {
	exec 3<>"/dev/tcp/$address/4433"
	[[ -z $1 ]] || echo "$1" >&3
	cat <&3
	exec 3>&-
}

tls_peer() {
	timeout 20 openssl s_client -connect "$address:4433" -quiet \
		-CAfile certs/ca.pem -cert certs/client.pem \
		-key certs/client.key "$@" < <(exec sleep 20)
}

# Let in, it has nothing to say but close_notify.
tls_goodbye() {
	timeout 20 openssl s_client -connect "$address:4433" \
		-CAfile certs/ca.pem -cert certs/client.pem \
		-key certs/client.key -alpn rdma-params/2 </dev/null
}

refuse_them() {
	local -a program=(./client -a "$address" -t 30)
	# A good client must be faster, with sanitizers and on a busy machine.
	local limit=4

	[[ $build != *sanitized ]] || limit=12
	start_server ./server -t "$limit" write
	no_queue_pairs || fail "there is a queue pair before any client"
	good_client
	refused 'verify failed (20, ' 'alert unknown ca' "${program[@]}" \
		-C other/client.pem -K other/client.key write
	refused 'alert unknown ca' 'verify failed .(19|20), ' "${program[@]}" \
		-A other/ca.pem write
	refused 'verify failed (26, .*for its role' 'unsupported certificate' \
		"${program[@]}" -C certs/server.pem -K certs/server.key write
	# It is who it says, but its queue pair would live elsewhere.
	refused "GID is not the address" 'closed the connection' \
		"${program[@]}" -g 0 write
	refused 'this side runs write and the peer read' \
		'this side runs read and the peer write' "${program[@]}" read
	refused 'does not begin with a ClientHello' - tcp_peer 'HELLO RDMA 1'
	refused 'announces a ClientHello of 131329 bytes' - tcp_peer \
		$'\x16\x03\x01\x01\x04\x01\x02\x01\x01'
	refused "TLS handshake: nothing came within $limit s" - tcp_peer ''
	# Its first key is one that the server cannot use.
	refused 'is not asked for a second ClientHello' - tls_peer \
		-groups P-521:X25519 -alpn rdma-params/2
	refused 'unsupported protocol' - tls_peer -tls1_2 -alpn rdma-params/2
	refused 'no application protocol' - tls_peer -alpn rdma-params/1
	refused 'does not speak rdma-params/2' - tls_peer
	refused "the peer's parameters: the peer closed the connection" - \
		tls_goodbye
	# One that is let in, and then says nothing: what it got is HELLO.
	[[ $build == *sanitized ]] ||
		refused "the peer's parameters: nothing came within $limit s" \
			- tls_peer -alpn rdma-params/2
	# Found by a name that resolves, and that its certificate has not.
	refused 'alert bad certificate' 'verify failed .62, ' \
		"${program[@]}" -a ip6-localhost write
	good_client
	if [[ $address == 192.0.2.1 ]]; then
		good_client -a node-a
		good_client -a 2001:db8::1
	fi
	stop_server
}

# Each is who it says, and only some may come, for some of it.
list_of_clients() {
	local id=spiffe://rdma.example/client list=$scratch/list
	local -a alice=(./client -a "$address" -C certs/client-alice.pem
		-K certs/client-alice.key write)

	./certs.sh --client alice >"$scratch/certs"
	start_server ./server -l "$list" -t 60 write
	run_client 1 ./client -a "$address" write
	says_one client.err 'closed the connection instead'
	says_one server.err 'No such file.*nobody is let in'
	echo "$id both" >"$list"
	good_client
	grep -qE "^let in to write: $id, serial [0-9A-F]+$" \
		"$scratch/server.log" || fail "the log does not say who was let in"
	refused "$id/alice, serial [0-9A-F]*, may not write" \
		'closed the connection instead' "${alice[@]}"
	echo "$id/alice read" >>"$list"
	refused "$id/alice, serial [0-9A-F]*, may not write" - "${alice[@]}"
	echo "$id/alice write" >>"$list"
	run_client 0 "${alice[@]}"
	says_nothing client.err
	stop_server
}

@test "04: a list says who may come, and for what" {
	FUNCTIONS='queue_pairs server_errors said_more served no_queue_pairs
		good_client refused' on_device a list_of_clients
}

# A key that does not match is found before anybody is connected to.
wrong_key() {
	start_server ./server -t 30 write
	run_client 1 ./client -a "$address" -K certs/server.key write
	says_one client.err 'key values mismatch' 'the private key of --cert'
	says_nothing server.err
	run_client 1 ./client -a "$address" -C no/such.pem write
	says_one client.err 'No such file' 'make certs'
	good_client
	stop_server
}

@test "04: whoever must not be let in gets a named error, and the next is served" {
	FUNCTIONS='queue_pairs server_errors said_more served no_queue_pairs
		good_client refused tcp_peer tls_peer tls_goodbye' on_device a refuse_them
}

@test "04: the same under sanitizers" {
	FUNCTIONS='queue_pairs server_errors said_more served no_queue_pairs
		good_client refused tcp_peer tls_peer tls_goodbye' on_device -s a refuse_them
}

@test "04: a key that does not match, a file that is missing" {
	FUNCTIONS='server_errors served good_client' on_device a wrong_key
}

# The name is the subject's CN, as in old certificates, and no subjectAltName.
common_name() {
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes \
		-days 1 -subj /CN=ip6-localhost \
		-addext 'subjectAltName = IP:192.0.2.9' \
		-addext 'extendedKeyUsage = serverAuth' \
		-keyout "$scratch/cn.key" -out "$scratch/cn.pem" 2>/dev/null
	start_server ./server -C "$scratch/cn.pem" -K "$scratch/cn.key" write
	run_client 1 ./client -a ip6-localhost -A "$scratch/cn.pem" write
	says_one client.err 'verify failed .62, '
	stop_server
}

@test "04: a certificate's common name is nobody's name" {
	on_device a common_name
}

# While one client is silent, the server has no time for another; and then it is
# asked to stop.
patience() {
	start_server ./server -t 600 write
	exec 3<>"/dev/tcp/$address/4433"
	await "a client that is shaking hands" in_handshake
	run_client 1 ./client -a "$address" -t 5 write
	says_one client.err 'TLS handshake: nothing came within 5 s'
	stop_server
	exec 3>&-
	says_one server.err '^error: TLS handshake: given up'
}
# It has the listening socket and one more.
in_handshake() {
	[[ $(find "/proc/$server/fd" -lname 'socket:*' | wc -l) -eq 2 ]]
}

@test "04: a server that is busy; SIGTERM during a handshake" {
	FUNCTIONS=in_handshake on_device a patience
}

# Until it has its certificates, a client has not waited for anybody. The file of
# this one comes later than -t says.
slow_certificates() {
	start_server ./server -t 60 write
	mkfifo "$scratch/ca.pem"
	start_client ./client -a "$address" -t 5 -A "$scratch/ca.pem" write
	# shellcheck disable=SC2034 # for on_device.bash's trap
	doing='waiting for a client that opens its certificates'
	exec {fifo}>"$scratch/ca.pem"
	read -rt 6 -u "$silence" || true
	cat certs/ca.pem >&"$fifo"
	exec {fifo}>&-
	end_client 0
	says_nothing server.err
	stop_server
}

@test "04: reading the certificates takes longer than -t, and the peer is there" {
	on_device a slow_certificates
}
