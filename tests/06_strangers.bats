#!/usr/bin/env bats
#
# 06_strangers.bats - chapter 06: whatever is sent to a server, and whatever fails
# there, it serves the next, and soon

# shellcheck disable=SC2154,SC2016 # set by helpers.bash; for the shell of a node
# A lab of its own: RDS goes on connecting to the strangers when they are gone.
export LAB_NAME=strangers-${BATS_RUN_TMPDIR##*-}
load helpers
load 06_guest
CHAPTER=06_rds

setup_file() {
	open_device
	build_with plain '-O1 -g'
	gcc -std=gnu11 -O1 -Wall -Werror -shared -fPIC -o \
		"$top/build/tests/$CHAPTER.plain/rds_errors.so" \
		"$top/tests/rds_errors.c"
}

# fresh NODE FROM NAME: $NAME is an address, of which no kernel of this lab has a
# connection yet. Of two kernels, the one with the smaller address connects.
fresh() {
	local last

	last=$(guest "$1" "last=\$((\$(cat /run/stranger.$2 || echo $2) + 1))
		ip address add 192.0.2.\$last/24 dev eth0
		echo \$last | tee /run/stranger.$2" 2>/dev/null)
	printf -v "$3" 192.0.2.%s "$last"
}

setup() {
	needs_lab
	fresh a 200 server
	fresh b 10 stranger
}

# pair LINE…: runs these programs on two nodes; $out has their logs.
pair() {
	out=$BATS_TEST_TMPDIR/run
	printf '%s\n' 'nodes: 2' 'setup: scripts/setup_rds.sh' "$@" \
		>"$BATS_TEST_TMPDIR/commands"
	PAIR_LIMIT=200 "$top/scripts/pair.sh" \
		-d "$top/build/tests/$CHAPTER.plain" \
		"$BATS_TEST_TMPDIR/commands" "$out"
	tail -n +1 "$out"/*
}

# ended_well: the clients, which a server without -1 served, and the server, with SIGTERM.
ended_well() {
	! grep -v 'exit status 0$' "$out/status.log"
}

# The server of the commands below, until it is told to stop by the last of them.
serve() {
	echo "server1: bash -c 'echo \$\$ >server.pid; exec $* $server'"
}
stop="server9: bash -c 'kill \$(<server.pid); echo listening'"
peer="/usr/bin/python3 ../../../tests/rds_over_tcp.py"

@test "06: no datagram ends the server, whatever its length" {
	local second

	fresh b 10 second
	# ECHO, up to what the send buffer holds, more than it, more than RDS has.
	pair "$(serve ./server -t 3 -T tcp -a)" \
		"client1: $peer $server $stranger 5 7000 0 1 11 12 106496 106497 1048576 1048577 3000000" \
		"client2: ./client -a $server -T tcp -t 60" \
		"client3: $peer $server $second 5 7000 full 100" \
		"client4: ./client -a $server -T tcp -t 60" \
		"$stop"
	ended_well
	[[ $(grep -c '^received message: ' "$out/server1.log") -eq 2 ]]
	[[ $(grep -c "bytes to $stranger port 700[56]: Message too long" "$out/server1.err") -eq 2 ]]
	[[ $(grep -c "$stranger port 700[78] has sent a datagram of more than 1048576 bytes" "$out/server1.err") -eq 2 ]]
	grep -q "100 bytes to $second port 7001: No buffer space available" "$out/server1.err"
}

# Here the client is the one with the larger address, on the servers' node.
@test "06: nor does a stranger's end a client" {
	local dir=$top/build/tests/$CHAPTER.plain

	rm -f "$dir/ready"
	cat >"$dir/asked.py" <<'END'
import pathlib, socket, subprocess, sys
s = socket.socket(socket.AF_RDS, socket.SOCK_SEQPACKET, 0)
s.bind(('192.0.2.2', 4000))
s.settimeout(60)
pathlib.Path('ready').touch()
client = s.recvfrom(2000)[1]
subprocess.run(['../../../tests/rds_over_tcp.py', f'{client[0]}:{client[1]}', sys.argv[1],
                '5', '7000', '1048577'], check=True)
s.sendto(b'RDS6\0\x02' + bytes(6) + b'so it is', client)
bye = b'RDS6\0\x0a' + bytes(6)
assert s.recv(100) == bye
s.sendto(bye, client)
END
	pair "server1: bash -c 'echo listening; until [[ -e ready ]]; do read -r -t 0.1 <> <(:); done; exec ./client -a 192.0.2.2 -b $server -T tcp -t 60'" \
		"client1: /usr/bin/python3 asked.py $stranger"
	ended_well
	grep -qx 'received message: so it is' "$out/server1.log"
	grep -q "^error: recvmsg: $stranger port 7000 has sent a datagram of more than 1048576 bytes" "$out/server1.err"
}

@test "06: no error of recvmsg or of sendmsg ends the server" {
	local errors=(11 4 14 110 12 105 104 1 5 22 107 9) answers

	# EAGAIN, EINTR, EFAULT, ETIMEDOUT, ENOMEM, ENOBUFS, ECONNRESET, EPERM, EIO,
	# EINVAL, ENOTCONN, EBADF; the first two are none for this server.
	pair "$(serve env "LD_PRELOAD=./rds_errors.so RDS_CALL=recvmsg" \
		"RDS_ERRORS=\"${errors[*]}\" ./server -T tcp -a")" \
		"client1: ./client -a $server -T tcp -t 60" \
		"$stop"
	ended_well
	[[ $(grep -c '^error: recvmsg: ' "$out/server1.err") -eq 10 ]]
	[[ $(wc -l <"$out/server1.err") -eq 10 ]]
	cat >"$top/build/tests/$CHAPTER.plain/echo.py" <<'END'
import socket, sys
s = socket.socket(socket.AF_RDS, socket.SOCK_SEQPACKET, 0)
s.bind(('192.0.2.2', 0))
s.settimeout(60)
for i in range(int(sys.argv[1])):
    s.sendto(b'RDS6\0\x05\0\0' + i.to_bytes(4, 'big'), (sys.argv[2], 4000))
print(int.from_bytes(s.recv(100)[8:], 'big'))
END
	# EAGAIN is not final, and the same datagram comes to the next one. The others:
	# EMSGSIZE, EOPNOTSUPP, EINVAL, ENOTCONN, ENOMEM, EFAULT, ENOBUFS, EINTR, EPERM,
	# ENODEV, EHOSTUNREACH, ENETUNREACH, EADDRNOTAVAIL, EDESTADDRREQ, EIO.
	errors=(11 90 95 22 107 12 14 105 4 1 19 113 101 99 89 5)
	answers=$((${#errors[@]} - 1))
	pair "$(serve env "LD_PRELOAD=./rds_errors.so RDS_CALL=sendmsg" \
		"RDS_ERRORS=\"${errors[*]}\" ./server -T tcp -a")" \
		"client1: /usr/bin/python3 echo.py $((answers + 1)) $server" \
		"client2: ./client -a $server -T tcp -t 60" \
		"$stop"
	ended_well
	[[ $(<"$out/client1.log") -eq $answers ]]
	[[ $(grep -c '^error: sendmsg: ' "$out/server1.err") -eq $answers ]]
}

# took SECONDS: the honest client waited no longer.
took() {
	[[ $(sed -n 's/^seconds: //p' "$out/client1.log") -le $1 ]]
	grep -q '^received message: ' "$out/client1.log"
}

# Forty times -t would be two minutes.
@test "06: a host that acknowledges nothing is given up once, not once a port" {
	pair "$(serve ./server -t 3 -T tcp -a)" \
		"client1: $peer $server $stranger 5 7000 $(printf '100000 %.0s' {1..40}) -- ./client -a $server -T tcp -t 150" \
		"$stop"
	ended_well
	[[ $(grep -c "^$stranger acknowledges nothing" "$out/server1.log") -eq 1 ]]
	took 15
}

@test "06: nor is a host to which there is no connection over ib" {
	guest b 'nft add table ip t
		nft "add chain ip t o { type filter hook input priority 0; }"
		nft add rule ip t o ip daddr '$stranger' udp dport 4791 drop'
	pair "$(serve ./server -t 3 -T ib -a)" \
		"client1: $peer $server $stranger 7 7000 $(printf '12 %.0s' {1..20}) -- ./client -a $server -T tcp -t 150" \
		"$stop"
	ended_well
	[[ $(grep -c "^$stranger acknowledges nothing" "$out/server1.log") -eq 1 ]]
	took 15
}
