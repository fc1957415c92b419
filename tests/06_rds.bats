#!/usr/bin/env bats
#
# 06_rds.bats - chapter 06: a network that loses packets, a connection that others break, and a server that is sent
# nonsense

# shellcheck disable=SC2154,SC2016 # set by helpers.bash; for the shell of a node
load helpers
load 06_guest
CHAPTER=06_rds

setup_file() {
	open_device
	build_with plain '-O1 -g'
}

setup() {
	needs_lab
}

# pair LINE…: runs these programs on two nodes; $out has their logs.
pair() {
	out=$BATS_TEST_TMPDIR/run
	printf '%s\n' 'nodes: 2' 'setup: scripts/setup_rds.sh' "$@" \
		>"$BATS_TEST_TMPDIR/commands"
	"$top/scripts/pair.sh" -d "$top/build/tests/$CHAPTER.plain" \
		"$BATS_TEST_TMPDIR/commands" "$out"
	tail -n +1 "$out"/*
}

# eventually COMMAND...: within a minute.
eventually() {
	local end=$((SECONDS + 60))

	until "$@"; do
		[[ $SECONDS -lt $end ]]
		read -r -t 0.1 <> <(:) || true
	done
}

# All ended with 0, and the client complained of nothing.
ends_well() {
	! grep -v 'exit status 0$' "$out/status.log"
	[[ ! -e $out/client.err ]]
}

@test "06: a network that loses 5 % loses no message, over either transport" {
	local transport node

	for node in a b; do
		guest $node 'tc qdisc add dev eth0 root netem loss 5%'
	done
	for transport in tcp ib; do
		PAIR_LIMIT=300 pair "server1: ./server -1 -a 192.0.2.1 -p 4000 -T $transport" \
			"server2: ./server -1 -a 192.0.2.1 -p 4010 -T $transport" \
			"client: ./client -a 192.0.2.1:4000 -a 192.0.2.1:4010 -T $transport -t 250 -n 40 count" ||
			break
		[[ $(grep -c '^  40 messages, all of them, in order$' \
			"$out/client.log") -eq 2 ]] || break
	done
	for node in a b; do
		guest $node 'tc -s qdisc show dev eth0 root
			tc qdisc del dev eth0 root' >"$BATS_TEST_TMPDIR/tc.$node"
	done
	ends_well
	[[ $transport == ib ]]
	grep -q 'dropped [1-9]' "$BATS_TEST_TMPDIR/tc.b"
}

# comes_back: whether a connection over ib that breaks is made anew here. If not,
# that is said, and nothing more can be seen.
comes_back() {
	local said

	said=$(guest a '$rds --reconnects') || {
		echo "# $said" >&3
		return 1
	}
}

# Not as root: it takes no rights at all.
@test "06: any user's wrong key resets the connection, and costs no message" {
	comes_back || return 0
	pair 'server: ./server -1 -a 192.0.2.1 -T ib' \
		"client: ./client -a 192.0.2.1 -T ib -t 60 -n 2000 -x '! setpriv --reuid=65534 --regid=65534 --clear-groups ./client -a 192.0.2.1 -T ib -k 7 write >/dev/null 2>&1' count"
	ends_well
	grep -qx '  2000 messages, all of them, in order' "$out/client.log"
	grep -q '^the connection was reset, and has come back' "$out/client.log"
}

@test "06: who chooses no transport gets ib, and either reaches the other" {
	pair 'server: ./server -1 -a 192.0.2.1' \
		'client: ./client -a 192.0.2.1 -T tcp'
	ends_well
	grep -qx 'listening on 192.0.2.1 port 4000 over ib.' "$out/server.log"
	grep -qx 'bound to 192.0.2.2 over tcp.' "$out/client.log"
}

@test "06: round trips and messages per second, of few bytes and many, are measured" {
	local run size

	for run in 'tcp 12' 'ib 65536'; do
		size=${run#* }
		pair "server: ./server -1 -a 192.0.2.1 -T ${run% *}" \
			"client: ./client -a 192.0.2.1 -T ${run% *} -n 30 -s $size -c bench"
		ends_well
		grep -qE "^ping,$size,1,30(,[0-9.]+){7}$" "$out/client.log"
		grep -qE "^flood,$size,[0-9]+,30(,[0-9.]+){7}$" \
			"$out/client.log"
	done
}

@test "06: a server that is sent nonsense says so, and serves the next" {
	local server

	rm -f "$top/build/tests/$CHAPTER.plain"/nonsense.*
	cat >"$top/build/tests/$CHAPTER.plain/nonsense.py" <<'END'
import socket
s = socket.socket(socket.AF_RDS, socket.SOCK_SEQPACKET, 0)
s.bind(('192.0.2.2', 0))
for text in (b'', b'RDS6', b'GET / HTTP/1.1\r\n', b'RDS6' + bytes(8),
              b'RDS6\0\x02' + bytes(6), b'RDS6\0\x63' + bytes(6),
              b'RDS6\0\x01' + bytes(6) + b'\1' * 1025):
    s.sendto(text, ('192.0.2.1', 4000))
s.settimeout(5)
s.sendto(b'RDS6\0\x05' + bytes(6), ('192.0.2.1', 4000))
assert s.recv(100) == b'RDS6\0\x05' + bytes(6)
END
	guest a '$rds tcp'
	guest b '$rds tcp'
	# Not in a function: the signal is for lab.sh, which passes it on.
	"$top/scripts/lab.sh" exec a -- bash -c "cd '$top/build/tests/$CHAPTER.plain' &&
		exec timeout 300 ./server -a 192.0.2.1 -T tcp >nonsense.log 2>nonsense.err" \
		</dev/null &
	server=$!
	cd "$top/build/tests/$CHAPTER.plain"
	eventually grep -qs listening nonsense.log
	run guest b "/usr/bin/python3 build/tests/$CHAPTER.plain/nonsense.py"
	kill "$server"
	wait "$server"
	[[ $status -eq 0 ]]
	[[ $(grep -c '^error: a datagram' nonsense.err) -eq 7 ]]
	[[ $(wc -l <nonsense.err) -eq 7 ]]
	# Nothing of what is too long has been printed.
	run -1 grep received nonsense.log
}

@test "06: a client ignores whom it has not asked, and waits on" {
	cat >"$top/build/tests/$CHAPTER.plain/stranger.py" <<'END'
import socket
def bound(port):
    s = socket.socket(socket.AF_RDS, socket.SOCK_SEQPACKET, 0)
    s.bind(('192.0.2.1', port))
    s.settimeout(30)
    return s
server, other = bound(4000), bound(4444)
print('listening', flush=True)
client = server.recvfrom(2000)[1]
other.sendto(b'RDS6\0\x02' + bytes(6) + b'not so', client)
server.sendto(b'RDS6\0\x02' + bytes(6) + b'so it is', client)
bye = b'RDS6\0\x0a' + bytes(6)
assert server.recv(100) == bye
other.sendto(bye, client)
server.sendto(bye, client)
END
	out=$BATS_TEST_TMPDIR/run
	printf '%s\n' 'setup: scripts/setup_rds.sh tcp' \
		'server: /usr/bin/python3 stranger.py' \
		'client: ./client -a 192.0.2.1 -T tcp' \
		>"$BATS_TEST_TMPDIR/commands"
	"$top/scripts/pair.sh" -d "$top/build/tests/$CHAPTER.plain" \
		"$BATS_TEST_TMPDIR/commands" "$out"
	tail -n +1 "$out"/*
	run -1 grep -v 'exit status 0$' "$out/status.log"
	grep -qx 'received message: so it is' "$out/client.log"
	run -1 grep 'not so' "$out/client.log"
	grep -q '^error: an answer: 192.0.2.1 port 4444 has sent something' \
		"$out/client.err"
	[[ $(wc -l <"$out/client.err") -eq 1 ]]
}

# Two ports are filled, one after the other. Whether the second one's map is news
# for the socket that the first one refuses, depends on how it comes: where there
# is a connection over tcp, each map comes over that as well.
@test "06: over tcp each map of the congestion is news, over ib what it says" {
	local dir=$top/build/tests/$CHAPTER.plain run

	cat >"$dir/full.py" <<'END'
import socket, struct, sys
def bound(port):
    s = socket.socket(socket.AF_RDS, socket.SOCK_SEQPACKET, 0)
    s.setsockopt(276, 8, struct.pack('i', int(sys.argv[1])))
    s.bind((sys.argv[2], port))
    return s
full, other, last = bound(4000), bound(4010), bound(4020)
print('listening', flush=True)
last.settimeout(240)
last.recv(1)
END
	cat >"$dir/maps.py" <<'END'
import errno, select, socket, struct, sys
SOL_RDS, CONG_UPDATE, CONG_MONITOR, TRANSPORT = 276, 5, 6, 8
def send(s, port, data):
    try:
        s.sendto(data, (sys.argv[2], port))
    except OSError as error:
        return error.errno
def refused(port):
    s = socket.socket(socket.AF_RDS, socket.SOCK_SEQPACKET, 0)
    s.setsockopt(SOL_RDS, TRANSPORT, struct.pack('i', int(sys.argv[1])))
    s.bind((sys.argv[3], 0))
    s.setsockopt(SOL_RDS, CONG_MONITOR, 1)
    s.settimeout(60)
    s.sendto(b'', (sys.argv[2], 0))
    s.recv(1)
    s.setblocking(False)
    while send(s, port, b'x' * 4096) != errno.ENOBUFS:
        select.select([], [s], [], 60)
    return s
def news(s, seconds):
    if not select.select([s], [], [], seconds)[0]:
        return False
    control = s.recvmsg(1, 100)[1]
    assert control == [(SOL_RDS, CONG_UPDATE, struct.pack('Q', 1 << 4000 % 64))]
    assert send(s, 4000, b'x') == errno.ENOBUFS
    return True
first = refused(4000)
while news(first, 1):
    pass
second = refused(4010)
print('news' if news(first, 10) else 'no news')
assert send(first, 4000, b'x') == errno.ENOBUFS
second.sendto(b'x', (sys.argv[2], 4020))
END
	guest a 'ip address add 192.0.2.11/24 dev eth0'
	guest b 'ip address add 192.0.2.12/24 dev eth0'
	for run in '0 no news' '2 news' '0 news'; do
		# In a lab where this test has run, they know each other over tcp.
		[[ $run != *no* || -z $(guest b 'ss -Htn src 192.0.2.12') ]] ||
			continue
		pair "server: /usr/bin/python3 full.py ${run%% *} 192.0.2.11" \
			"client: /usr/bin/python3 maps.py ${run%% *} 192.0.2.11 192.0.2.12"
		[[ $(<"$out/client.log") == "${run#* }" ]] || break
		ends_well || break
	done
	guest a 'ip address del 192.0.2.11/24 dev eth0'
	guest b 'ip address del 192.0.2.12/24 dev eth0'
	[[ $run == '0 news' && $(<"$out/client.log") == news ]]
	ends_well
}

# borrower: a program that borrows memory over ib and says the key. With an
# argument it also writes, with another key: so it acknowledges nothing.
borrower() {
	cat >"$top/build/tests/$CHAPTER.plain/borrow.py" <<'END'
import ctypes, socket, struct, sys
SOL_RDS, SO_RDS_TRANSPORT, IB, WRITE, KEY = 276, 8, 0, 1, 2
s = socket.socket(socket.AF_RDS, socket.SOCK_SEQPACKET, 0)
s.setsockopt(SOL_RDS, SO_RDS_TRANSPORT, struct.pack('i', IB))
s.bind(('192.0.2.2', 0))
s.settimeout(60)
s.sendto(b'RDS6\0\x07' + bytes(6), ('192.0.2.1', 4000))
for level, kind, data in s.recvmsg(100, 100)[1]:
    if (level, kind) == (SOL_RDS, KEY):
        key = struct.unpack('Q', data)[0]
print(hex(key))
text = ctypes.create_string_buffer(64)
vec = (ctypes.c_uint64 * 2)(ctypes.addressof(text), 64)
args = struct.pack('=7Q', key + 0x10, 0, 64, ctypes.addressof(vec), 1, 1, 0)
if sys.argv[1:]:
    s.sendmsg([b'RDS6\0\x09' + bytes(6)], [(SOL_RDS, WRITE, args)], 0,
              ('192.0.2.1', 4000))
END
}

# The server sleeps meanwhile: it is the kernels that see to it.
@test "06: a key that was used once is good for nothing more" {
	comes_back || return 0
	borrower
	pair "server1: bash -c 'echo \$\$ >server.pid; exec ./server -a 192.0.2.1 -T ib -t 300'" \
		"client1: bash -c '/usr/bin/python3 borrow.py | tee key'" \
		"server2: bash -c 'kill -STOP \$(<server.pid); echo listening'" \
		"client2: bash -c './client -a 192.0.2.1 -T ib -t 6 -k \$(<key) write'" \
		"client3: bash -c './client -a 192.0.2.1 -T ib -t 20 -k \$(<key) write'" \
		"server3: bash -c 'kill -CONT \$(<server.pid); kill \$(<server.pid); echo listening'"
	grep -qx 'write completed: status=0 (success).' "$out/client2.log"
	grep -q '^error: RDMA write: status 1 (remote error' "$out/client3.err"
	run -1 grep completed "$out/client3.log"
}

# What is lent and not used keeps the hosts apart when their connection breaks.
@test "06: a loan that nobody uses is taken back, and the connection comes back" {
	comes_back || return 0
	borrower
	pair 'server: ./server -1 -a 192.0.2.1 -T ib -t 5' \
		'client1: /usr/bin/python3 borrow.py spoil' \
		'client2: ./client -a 192.0.2.1 -T ib -t 60'
	grep -q '^0x' "$out/client1.log"
	grep -q '^taking back what 192.0.2.2 port' "$out/server.log"
	grep -q '^received message: ' "$out/client2.log"
	ends_well
}

# The client comes over tcp from an address that no connection over ib has yet.
# A server that takes EAGAIN for a full buffer asks a million times a second. (What
# is dropped is dropped as it comes: on Linux 6.12, a packet that cannot leave ends
# the CM's queue pair, and with it all of ib until the next boot.)
@test "06: memory is lent as soon as there is a connection for it, and no sooner" {
	local calls=$top/build/tests/$CHAPTER.plain/calls run address

	for run in up down; do
		# One that this lab has no connection of, also from an earlier test.
		address=192.0.2.$(guest b 'next=$(cat /run/next || echo 100)
			echo $((next + 1)) >/run/next; echo $next' 2>/dev/null)
		guest b "ip addr add $address/24 dev eth0"
		[[ $run == up ]] || guest b 'nft add table ip t
			nft "add chain ip t o { type filter hook input priority 0; }"
			nft add rule ip t o udp dport 4791 drop'
		rm -f "$calls"
		PAIR_WRAP="strace -f -o $calls.LABEL" pair \
			"server: bash -c 'exec timeout 20 ./server -1 -a 192.0.2.1 -T ib -t 3'" \
			"client: ./client -a 192.0.2.1 -b $address -T tcp -t 12 write" ||
			break
		cp "$out/server.err" "$BATS_TEST_TMPDIR/$run.err" || true
		cp "$out/client.log" "$BATS_TEST_TMPDIR/$run.log"
		wc -l <"$calls.server" >"$BATS_TEST_TMPDIR/$run.calls"
		guest b "nft flush ruleset; ip addr del $address/24 dev eth0"
	done
	guest b 'nft flush ruleset'
	tail -n +1 "$BATS_TEST_TMPDIR"/*.calls
	# Over tcp it cannot use what it got; that is its own affair.
	grep -q '^borrowed: rkey=' "$BATS_TEST_TMPDIR/up.log"
	grep -q '^error: a connection to 192.0.2.[0-9]* over ib: nothing came within 3 s' \
		"$BATS_TEST_TMPDIR/down.err"
	[[ $(<"$BATS_TEST_TMPDIR/up.calls") -lt 1000 ]]
	[[ $(<"$BATS_TEST_TMPDIR/down.calls") -lt 1000 ]]
}

# The key that the packets of the queue pair have is the one that RDS's own
# messages lend and take back, and each side's software acknowledges.
@test "06: on the wire, a loan, a write with its key, and its end" {
	local capture=$top/build/tests/$CHAPTER.pcap said rkey

	rm -f "$capture" "$capture.err"
	device_run b timeout 300 tcpdump -Z root -i eth0 -n -s 4096 --immediate-mode \
		-B 32768 -U -w "$capture" 'udp port 4791 or udp port 9' 2>"$capture.err" </dev/null &
	eventually grep -qs 'listening on' "$capture.err"
	pair 'server: ./server -1 -a 192.0.2.1 -T ib' \
		'client: ./client -a 192.0.2.1 -T ib write'
	ends_well
	# What was sent before this is in the file when this is.
	device_run a bash -c 'echo all of it >/dev/udp/192.0.2.2/9'
	eventually device_run b grep -aq 'all of it' "$capture"
	device_run b pkill -INT -x tcpdump
	wait
	said=$("$top/scripts/maint/rds_wire.py" "$capture")
	echo "$said"
	rkey=$(sed -n 's/^borrowed: rkey=\(0x[0-9a-f]*\),.*/\1/p' "$out/client.log")
	[[ $said == *"rkey $rkey is lent"*"RDMA WRITE Only  rkey $rkey, "*"rkey $rkey was used"* ]]
	[[ $said == *'> 0     ping'*'pong'*'ack required'*'only an ack'* ]]
}

# docs/rds.md says which calls sleep, and that zero-copy is there over tcp only.
@test "06: single calls sleep and copy as docs/rds.md says" {
	local calls=$top/build/tests/calls holds

	gcc -std=gnu11 -O1 -Wall -Werror -o "$calls" "$top/docs/rds/calls.c"
	guest a '$rds'
	guest b '$rds'
	run -0 guest b "$calls 192.0.2.2 192.0.2.77 ib full"
	[[ $output == *': Connection timed out, after 1.'* ]]
	run -0 guest b "$calls 192.0.2.2 192.0.2.77 ib first"
	[[ $output == *': success, after '* ]]
	# One socket in eight has path 0, and need not wait for the others.
	run -0 guest b "$calls 192.0.2.2 192.0.2.77 tcp first"
	[[ $output == *': success, after '[05-9].* ]]
	guest a "$calls 192.0.2.1 192.0.2.2 tcp hold" &
	holds=$!
	sleep 3
	run -0 guest b "$calls 192.0.2.2 192.0.2.1 tcp empty"
	[[ $output == *'20000 messages of 0 bytes were taken' ]]
	run -0 guest b "$calls 192.0.2.2 192.0.2.1 tcp zero"
	[[ $output == *'MSG_ZEROCOPY, cookie 77: success'*': 0 bytes more'*'COMPLETION: 1 cookie, 77' ]]
	run -0 guest b "$calls 192.0.2.2 192.0.2.1 tcp blocked"
	[[ $output == *': Interrupted system call, after '[5-9]* ]]
	wait "$holds"
	run -1 guest b "$calls 192.0.2.2 192.0.2.1 ib zero"
	[[ $output == *'sendmsg with MSG_ZEROCOPY: Operation not supported'* ]]
}

@test "06: the exercise: RDMA READ through the socket" {
	local copy=$top/build/tests/$CHAPTER.read

	rm -rf "$copy"
	chapter_update "$top/$CHAPTER" "$copy"
	patch -f -s -d "$copy" -p1 <"$top/$CHAPTER/exercises/read.patch"
	make -s -j2 -C "$copy" CFLAGS='-O1 -g -Werror'
	out=$BATS_TEST_TMPDIR/run
	printf '%s\n' 'nodes: 2' 'setup: scripts/setup_rds.sh ib' \
		'server: ./server -1 -a 192.0.2.1 -T ib' \
		'client: ./client -a 192.0.2.1 -T ib read' \
		>"$BATS_TEST_TMPDIR/commands"
	"$top/scripts/pair.sh" -d "$copy" "$BATS_TEST_TMPDIR/commands" "$out"
	tail -n +1 "$out"/*
	ends_well
	grep -q '^read: message from passive/server side with pid ' \
		"$out/client.log"
}
