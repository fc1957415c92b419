# 05_limits.bash - chapter 05's server when it has to end or runs out; exercises
#
# Sourced where the device is, after on_device.bash and 05_clients.bash.
# shellcheck shell=bash
# shellcheck disable=SC2154 # set by on_device.bash

few_descriptors() {
	local max

	# Started by a shell that may have no more.
	start_server bash -c 'ulimit -n 80 && exec ./server -t 60 write'
	max=$(sed -n 's/^80 descriptors: room for \([0-9]*\) clients and .*/\1/p' \
		"$scratch/server.log")
	[[ $max -ge 10 && $max -lt 24 ]] || fail "room for $max clients"
	start_client ./client -t 60 -a "$address" -c $((max + 5)) -w 3600 write
	await "$max clients that hold" has_lines client.log ': holding the' "$max"
	await "five that are told" has_lines client.err \
		"server full ($max of $max)" 5
	kill -TERM "$client"
	end_client 1
	await "an idle server" idle
	one_is_served -c "$max"
	await "an idle server" idle
	# And where nobody has counted: the limit falls while it runs.
	prlimit --pid "$server" --nofile="$(($(descriptors "$server") + 1))":80
	run_client 1 ./client -t 5 -a "$address" -c 3 write
	prlimit --pid "$server" --nofile=80:80
	one_is_served -c 3
	stop_server
}

signals() {
	start_server ./server -g 60 write
	start_client ./client -a "$address" -c 3 -w 3600 write
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
	start_server ./server -g 3600 write
	start_client ./client -a "$address" -c 3 -w 3600 write
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
	start_server ./server -g 0 write
	start_client ./client -a "$address" -w 3600 write
	await "a client that holds" all_hold 1
	stop_server
	end_client 1
	nothing_is_left
}

# metrics TIMES: reads the file so often while it is written.
metrics() {
	local file=$scratch/metrics times=0 text

	start_server ./server -M "$file" write
	await "a first file" test -e "$file"
	start_client ./client -a "$address" -c 3 -k 20 write
	while [[ $times -lt $1 ]] || is_running "$client"; do
		text=$(<"$file")
		[[ $text == '# HELP rdma_clients_connected '*$'\n'rdma_queue_pairs* ]] ||
			fail "half a file: $text"
		times=$((times + 1))
	done
	end_client 0
	says_nothing client.err
	stop_server
	grep -qx 'rdma_clients_served_total 60' "$file" || fail "not 60 served"
	rm "$file"
	# Another, which is full with three.
	start_server ./server -m 3 -M "$file" write
	await "a first file" test -e "$file"
	start_client ./client -a "$address" -c 3 -w 3600 write
	await "three clients in the file" grep -q '^rdma_clients_connected 3$' \
		"$file"
	# The last word of each before its server waits for its goodbye.
	await "three that were served" has_lines server.log \
		': all 1024 bytes are right, letter ' 3
	./client -a "$address" write 2>/dev/null >&2 && fail "a fourth client"
	kill -TERM "$server"
	await "a server that listens no more" has_lines server.log 'asked to' 1
	kill -TERM "$server"
	end_of server "$server" 0
	end_client 1
	grep -qx 'rdma_clients_served_total 0' "$file" || fail "not 0 served"
	grep -qx 'rdma_clients_refused_total 1' "$file" || fail "not 1 refused"
	grep -qx 'rdma_clients_failed_total{step="goodbye"} 3' "$file" ||
		fail "not 3 failed"
	grep -qx 'rdma_queue_pairs 0' "$file" || fail "queue pairs at the end"
	[[ ! -e $file.new ]] || fail "$file.new is left"
	# A folder that is not there is said, and the server serves.
	start_server ./server -M /nonexistent/metrics -1 write
	run_client 0 ./client -a "$address" write
	end_of server "$server" 0
	has_lines server.err 'fopen: No such file or directory; /nonexist' 1 ||
		fail "the server does not say what is wrong with its file"
}

config_file() {
	local file=$scratch/rdma.conf status=0

	printf '%s\n' '# ours' '[server]' 'max = 2' 'once = yes' 'end-after = 3' \
		'[client]' "address = $address" 'clients = 2' 'hold = 3600' >"$file"
	start_server ./server -f "$file" write
	start_client ./client -f "$file" write
	await "two clients that hold their connections" all_hold 2
	# What comes later wins.
	./client -f "$file" -c 1 write >"$scratch/third.log" \
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
