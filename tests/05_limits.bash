# 05_limits.bash - chapter 05's server when it has to end or runs out; exercises
#
# Sourced where the device is, after on_device.bash and 05_clients.bash.
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2016 # set by on_device.bash; for another shell

few_descriptors() {
	local max

	# Started by a shell that may have no more.
	start_server bash -c 'ulimit -n 80 && exec ./server -t 60 write'
	max=$(sed -n 's/.* more descriptors: room for \([0-9]*\) clients and .*/\1/p' \
		"$scratch/server.log")
	[[ $max -ge 10 && $max -lt 30 ]] || fail "room for $max clients"
	start_client ./load/load -t 60 -a "$address" -n $((max + 5)) -w 3600 write
	await "$max clients that hold" has_lines client.log ': holding the' "$max"
	await "five that are told" has_lines client.err \
		"server full ($max of $max)" 5
	kill -TERM "$client"
	end_client 1
	await "an idle server" idle
	are_served -n "$max"
	await "an idle server" idle
	# And where nobody has counted: the limit falls while it runs.
	prlimit --pid "$server" --nofile="$(($(descriptors "$server") + 1))":80
	run_client 1 ./load/load -t 5 -a "$address" -n 3 write
	prlimit --pid "$server" --nofile=80:80
	are_served -n 3
	stop_server
}

# one_identity: it has no more places than its share, and another one has the others.
one_identity() {
	certificates_of alice
	printf 'spiffe://rdma.example/client%s write\n' '' /alice >mine.list
	start_server ./server "${of_server[@]}" -l mine.list -t 60 -m 5 -U 3 write
	start_client ./load/load -t 60 -a "$address" "${of_client[@]}" -n 5 \
		-w 3600 write
	await "three that hold" has_lines client.log ': holding the' 3
	await "two that are told" has_lines client.err 'server full (3 of 3)' 2
	has_lines server.log \
		'spiffe://rdma.example/client has 3 connections' 2 ||
		fail "the server does not say who is refused"
	figures 'connected: 3 of 5; shaking hands: 0'
	figures 'served: 0; refused: 2;'
	# Those who hold do so beside this one.
	./client -a "$address" -t 60 -A mine/ca.pem -C mine/client-alice.pem \
		-K mine/client-alice.key write >"$scratch/alice.log" ||
		fail "another identity is not served"
	kill -TERM "$client"
	end_client 1
	await "an idle server" idle
	# Who is not in the list any more gets nothing at all.
	echo 'spiffe://rdma.example/client write' >mine.list
	run_client 1 ./client -a "$address" -t 60 -A mine/ca.pem \
		-C mine/client-alice.pem -K mine/client-alice.key write
	has_lines server.err 'client/alice, serial' 1 ||
		fail "the server does not say who is refused"
	# What is given back can be had again.
	are_served "${of_client[@]}" -n 3
	stop_server
}

# certificates_of NAME: with a client of this name, in mine.
certificates_of() {
	./certs.sh --client "$1" mine >"$scratch/certs"
	of_server=(-A mine/ca.pem -C mine/server.pem -K mine/server.key)
	of_client=(-A mine/ca.pem -C mine/client.pem -K mine/client.key)
}

# renewed: what is read at SIGHUP holds for those who come from then on; what cannot
# be read changes nothing.
renewed() {
	local serial

	certificates_of alice
	start_server ./server "${of_server[@]}" -t 60 write
	one_is_served "${of_client[@]}"
	start_client ./client -t 60 -a "$address" "${of_client[@]}" -w 3600 write
	await "a client that holds" all_hold 1
	certificates_of alice
	chmod 644 mine/server.key
	kill -HUP "$server"
	await "a key that is refused" has_lines server.log 'read before stay' 1
	says_one server.err 'others on this machine can read'
	chmod 600 mine/server.key
	kill -HUP "$server"
	await "new certificates" has_lines server.log 'certificates read again' 1
	: >"$scratch/server.err"
	# The one that is there has noticed nothing.
	is_running "$client" || fail "the client has left"
	kill -TERM "$client"
	end_client 0
	one_is_served "${of_client[@]}"
	serial=$(openssl x509 -in mine/server.pem -noout -serial)
	[[ $(openssl s_client -connect "$address:4433" -cert mine/client.pem \
		-key mine/client.key -alpn rdma-params/3 </dev/null 2>/dev/null |
		openssl x509 -noout -serial) == "$serial" ]] ||
		fail "the server shows another certificate"
	await "an idle server" idle
	stop_server
}

# lent: memory that is lent is counted before it is there.
lent() {
	echo 'MemAvailable: 1048576 kB' >"$scratch/meminfo"
	start_server unshare -m bash -c 'mount --bind "$0" /proc/meminfo &&
		exec ./server -t 60 -b 67108864 write' "$scratch/meminfo"
	# Three quarters of a GiB, and 128 MiB for each.
	has_lines server.log '786432 kB of memory: room for 6 clients' 1 ||
		fail "the memory that is lent is not counted"
	figures 'connected: 0 of 6;'
	stop_server
}

# A signal ends connections whose server takes longer than client's second.
slow_goodbyes() {
	start_server ./server -t 60 write
	start_client ./load/load -t 60 -a "$address" -n 3 -w 3600 write
	await "three clients that hold" all_hold 3
	kill -STOP "$server"
	kill -TERM "$client"
	read -rt 3 -u "$silence" || true
	kill -CONT "$server"
	end_client 0
	says_nothing client.err
	await "an idle server" idle
	stop_server
}

signals() {
	start_server ./server -t 100 -G 60 write
	start_client ./load/load -t 100 -a "$address" -n 3 -w 3600 write
	await "three clients that hold" all_hold 3
	kill -TERM "$server"
	await "a server that listens no more" has_lines server.log \
		'asked to stop: no new clients, up to 60 s' 1
	./client -a "$address" write >"$scratch/late.log" 2>"$scratch/late.err" &&
		fail "a client was served after SIGTERM"
	says_one late.err 'Connection refused'
	# The others finish, and so does the server, long before the 60 s.
	kill -TERM "$client"
	end_client 0
	end_of server "$server" 0
	says_nothing server.err
	has_lines server.log '[figures] served: 3; refused: 0; failed: 0' 1 ||
		fail "not all were served"
	# Now they do not, and it is asked a second time.
	start_server ./server -t 100 -G 3600 write
	start_client ./load/load -t 100 -a "$address" -n 3 -w 3600 write
	await "three clients that hold" all_hold 3
	kill -INT "$server"
	await "a server that listens no more" has_lines server.log \
		'asked to stop' 1
	is_running "$server" || fail "it did not wait"
	kill -INT "$server"
	end_of server "$server" 0
	end_client 1
	has_lines client.err 'the server ended the connection' 3 ||
		fail "the clients do not say what happened"
	has_lines server.log 'objects held: 0 PDs, 0 CQs, 0 QPs, 0 MRs' 1 ||
		fail "objects are held at the end"
	# The grace period ends it as well.
	start_server ./server -t 100 -G 0 write
	start_client ./client -t 100 -a "$address" -w 3600 write
	await "a client that holds" all_hold 1
	stop_server
	end_client 1
	nothing_is_left
}

# metrics TIMES: reads the file so often while it is written.
metrics() {
	local file=$scratch/metrics times=0 text

	start_server ./server -t 60 -F "$file" write
	await "a first file" test -e "$file"
	start_client ./load/load -t 60 -a "$address" -n 3 -N 20 write
	while [[ $times -lt $1 ]] || is_running "$client"; do
		text=$(<"$file")
		[[ $text == '# HELP rdma_clients_connected '*$'\n'rdma_objects* ]] ||
			fail "half a file: $text"
		times=$((times + 1))
	done
	end_client 0
	says_nothing client.err
	stop_server
	grep -qx 'rdma_clients_served_total 60' "$file" || fail "not 60 served"
	rm "$file"
	# Another, which is full with three.
	start_server ./server -t 60 -m 3 -F "$file" write
	await "a first file" test -e "$file"
	start_client ./load/load -t 60 -a "$address" -n 3 -w 3600 write
	await "three clients in the file" grep -q '^rdma_clients_connected 3$' \
		"$file"
	# The last word of each before its server waits for its goodbye.
	await "three that were served" has_lines server.log ': remote buffer: ' 3
	./client -t 60 -a "$address" write 2>/dev/null >&2 && fail "a fourth client"
	kill -TERM "$server"
	await "a server that listens no more" has_lines server.log 'asked to' 1
	kill -TERM "$server"
	end_of server "$server" 0
	end_client 1
	grep -qx 'rdma_clients_served_total 0' "$file" || fail "not 0 served"
	grep -qx 'rdma_clients_refused_total 1' "$file" || fail "not 1 refused"
	grep -qx 'rdma_clients_failed_total{step="goodbye"} 3' "$file" ||
		fail "not 3 failed"
	grep -qx 'rdma_objects{kind="qp"} 0' "$file" || fail "queue pairs at the end"
	[[ ! -e $file.new ]] || fail "$file.new is left"
	# A folder that is not there is said, and the server serves.
	start_server ./server -t 60 -F /nonexistent/metrics -1 write
	run_client 0 ./client -t 60 -a "$address" write
	end_of server "$server" 0
	has_lines server.err 'fopen: No such file or directory; /nonexist' 1 ||
		fail "the server does not say what is wrong with its file"
}

config_file() {
	local file=$scratch/rdma.conf status=0

	printf '%s\n' '# ours' '[server]' 'max = 2' 'once = yes' 'end-after = 3' \
		'[client]' "address = $address" 'hold = 3600' >"$file"
	start_server ./server -f "$file" write
	start_client ./load/load -n 2 -f "$file" write
	await "two clients that hold their connections" all_hold 2
	# What comes later wins.
	./client -f "$file" -w 1 write >"$scratch/third.log" \
		2>"$scratch/third.err" && fail "a third client was served"
	says_one third.err 'server full \(2 of 2\)'
	kill -TERM "$client"
	end_client 0
	# max and end-after were taken.
	end_of server "$server" 0
	printf '%s\n' '[server]' 'max = none' >"$file"
	./server -f "$file" write 2>"$scratch/usage.err" || status=$?
	[[ $status -eq 2 ]] || fail "a bad value: $status"
	has_lines usage.err '-m none: give a whole number' 1 ||
		fail "it does not say what is wrong"
	has_lines usage.err 'max = none' 1 || fail "it does not say where"
	printf '%s\n' '[server]' 'nonsense' >"$file"
	status=0
	./server -f "$file" write 2>"$scratch/usage.err" || status=$?
	[[ $status -eq 2 ]] || fail "no setting: $status"
	says_one usage.err 'rdma.conf: line 2: '
}

# little_memory: not as root, for whom there is no limit.
little_memory() {
	local max

	cp -r certs "$scratch/certs"
	chown -R nobody "$scratch"
	start_server setpriv --reuid=nobody --regid=nogroup --clear-groups \
		bash -c 'ulimit -l 128 && exec ./server -t 60 -C "$0/server.pem" \
			-K "$0/server.key" -A "$0/ca.pem" write' "$scratch/certs"
	max=$(sed -n 's/.* more kB of locked memory: room for \([0-9]*\) clients.*/\1/p' \
		"$scratch/server.log")
	[[ $max -ge 5 && $max -lt 20 ]] || fail "room for $max clients"
	start_client ./load/load -t 60 -a "$address" -n $((max + 3)) -w 3600 write
	await "$max clients that hold" has_lines client.log ': holding the' "$max"
	await "three that are told" has_lines client.err \
		"server full ($max of $max)" 3
	says_nothing server.err
	kill -TERM "$client"
	end_client 1
	await "an idle server" idle
	are_served -n "$max"
	stop_server
	says_nothing server.err
	# And none at all: said before anybody comes.
	run_client 1 setpriv --reuid=nobody --regid=nogroup --clear-groups \
		bash -c 'ulimit -l 8 && exec ./server -C "$0/server.pem" \
			-K "$0/server.key" -A "$0/ca.pem" write' "$scratch/certs"
	has_lines client.err 'this memory is locked, and `ulimit -l`' 1 ||
		fail "it does not say what is missing"
}

# unread: stdout is a pipe that is full, and nobody reads it.
unread() {
	local pipe

	mkfifo "$scratch/pipe"
	exec {pipe}<>"$scratch/pipe"
	dd if=/dev/zero of="$scratch/pipe" oflag=nonblock bs=4096 2>/dev/null ||
		true
	./server -G 0 write 1>&"$pipe" 2>"$scratch/server.err" &
	server=$!
	await "a server that listens" listens
	are_served -n 3
	says_nothing server.err
	start_client ./client -a "$address" -t 60 -w 3600 write
	await "a client that holds" all_hold 1
	stop_server
	end_client 1
	rm "$scratch/pipe"
}
# As there is no log: the port, in hexadecimal, is in state LISTEN.
listens() { grep -q ':1151 .* 0A ' /proc/net/tcp /proc/net/tcp6; }

# no_server: a signal ends a client that has a million connections to make, and
# until then it does not make them as fast as it can.
no_server() {
	local many

	start_client ./load/load -a "$address" -p 4499 -n 3 -N 1000000 write
	await "some that are refused" has_lines client.err 'refused' 12
	many=$(lines client.err 'refused')
	# Each of three pauses 0.1 s, 0.2 s and so on, or at least half of it.
	[[ $many -lt 100 ]] || fail "$many connections"
	kill -TERM "$client"
	end_client 1
	[[ $(lines client.err 'refused') -lt 100 ]] || fail "it went on"
	has_lines client.log 'asked to stop: connections that were not made: 29' 1 ||
		fail "it does not say what it has not done"
	# The same where there is a server that is full.
	start_server ./server -t 60 -m 1 write
	start_client ./client -t 60 -a "$address" -w 3600 write
	await "a client that holds" all_hold 1
	./load/load -t 60 -a "$address" -N 1000 write >"$scratch/second.log" \
		2>"$scratch/second.err" &
	many=$!
	await "a second refusal" has_lines second.err 'server full' 2
	kill -INT "$many"
	end_of 'client that is refused' "$many" 1
	[[ $(lines second.err 'server full') -lt 20 ]] || fail "too many"
	kill -TERM "$client"
	end_client 0
	stop_server
}

# refused_one ERROR COMMAND…: the server says this, and then serves another.
refused_one() {
	local before status=0 says=$1

	shift
	before=$(lines server.err 'error: ')
	"$@" </dev/null >"$scratch/bad.log" 2>&1 || status=$?
	# openssl's client has done all that it does before it is refused.
	[[ $status -ne 0 || $1 == timeout ]] || fail "$* was served"
	await "an error of the server's: $says" has_lines server.err 'error: ' \
		$((before + 1))
	tail -n 1 "$scratch/server.err" | grep -qE "^error: .*$says" ||
		fail "the server does not say: $says"
	one_is_served
}
refused_clients() {
	./certs.sh "$scratch/other" >/dev/null
	start_server ./server -t 30 write
	# It is who it says, but its queue pair would live elsewhere.
	refused_one 'GID is not the address that it was authenticated at' \
		./client -a "$address" -g 0 write
	refused_one 'the client came without a certificate: refused' \
		timeout 20 openssl s_client -connect "$address:4433" \
		-CAfile certs/ca.pem -alpn rdma-params/3 -verify_return_error
	refused_one 'verify failed \(20, ' ./client -a "$address" \
		-C "$scratch/other/client.pem" -K "$scratch/other/client.key" \
		write
	refused_one 'verify failed \(26, .*for its role' ./client -a "$address" \
		-C certs/server.pem -K certs/server.key write
	figures 'served: 4; refused: 0; failed: 4'
	idle || fail "something is held"
	stop_server
}
