#!/usr/bin/env bats
#
# lab_time.bats - a node with a time of its own: it stands still, its runs are the
# same each time, and a number decides who is first in a race
# shellcheck disable=SC2154 # the variables of on_device.bash

load helpers

setup_file() {
	local chapter

	open_still_device
	for chapter in 01_send_recv 02_write_read 03_pure_verbs; do
		build_chapter "$chapter"
	done
}

# Only where there is such a node.
setup() {
	[[ ${TEST_DEVICE_STILL:-} ]] ||
		skip "this test needs a User-Mode Linux node (make lab-kernel)"
}

in_node() {
	"$top/scripts/lab.sh" exec a -- "$@" </dev/null
}

# node_stat: the words of /proc/PID/stat of the node's kernel, from its state on, in stat.
node_stat() {
	local pid

	pid=$(sed -n 's/^pid_a=//p' "/tmp/rdma-lab.$(id -u).$LAB_NAME/notes" |
		tail -n 1)
	for _ in bwrap kernel; do
		read -r pid _ <"/proc/$pid/task/$pid/children" || true
	done
	stat=$(<"/proc/$pid/stat")
	read -ra stat <<<"${stat##*) }"
}

# ticks: the processor time that the node's kernel has had, in ticks.
ticks() {
	local stat

	node_stat
	echo $((stat[11] + stat[12]))
}

# until_stopped: waits for that, which comes just after a command's answer.
until_stopped() {
	local stat end=$((SECONDS + 60))

	node_stat
	while [[ ${stat[0]} != T ]]; do
		[[ $SECONDS -lt $end ]]
		read -rt 0.02 <> <(:) || true
		node_stat
	done
}

@test "a node's own time: waiting takes none of ours, and between commands it stands" {
	local begin=$SECONDS before after

	read -r before _ < <(in_node cat /proc/uptime)
	in_node sleep 3000
	# Nor does the node's own time pass from one to the next.
	for _ in {1..5}; do in_node true; done
	read -r after _ < <(in_node cat /proc/uptime)
	[[ $((SECONDS - begin)) -lt 300 ]]
	echo "$before $after"
	# In hundredths of a second.
	[[ $((10#${after/./} - 10#${before/./} - 300000)) -le 1 ]]
	# Idle, it has no processor.
	until_stopped
	before=$(ticks)
	read -rt 2 <> <(:) || true
	after=$(ticks)
	echo "$before $after"
	[[ $after -eq $before ]]
	run -0 "$top/scripts/lab.sh" status
	[[ $output == *'time: its own'* ]]
}

@test "a node's own time: its date is not before ours" {
	[[ $(in_node date +%s) -ge $(($(date +%s) - 1)) ]]
}

@test "a node's own time: for one node, and for the engine uml" {
	run -2 "$top/scripts/lab.sh" up --time own --nodes 2
	[[ $output == *'--time own is for one node, and 2 are asked for'* ]]
	run -2 "$top/scripts/lab.sh" up --time own --engine tcg
	[[ $output == *'--time own needs the engine uml, and tcg is asked for'* ]]
	run -2 "$top/scripts/lab.sh" up --time mine
	[[ $output == *'--time mine: the lab has own'* ]]
}

@test "a node's own time: a loop that never waits does not outlive its command" {
	run -137 timeout -s KILL 3 "$top/scripts/lab.sh" exec a -- \
		python3 -c 'while True: pass' </dev/null
	# Who comes meanwhile waits for the reset, and is told of it.
	run -255 timeout -s KILL 120 "$top/scripts/lab.sh" exec a -- true </dev/null
	[[ $output == *'node a was reset, and this command was on it'* ]]
	run -0 timeout -s KILL 120 "$top/scripts/lab.sh" exec a -- \
		sh -c 'ps ax | grep -c "[w]hile True" || true' </dev/null
	[[ $output == 0 ]]
}

# stamped NAME: each line with the node's uptime, and those of all programs in one.
stamped() {
	local line up

	while IFS= read -r line; do
		read -r up _ </proc/uptime
		echo "$up $1: $line"
	done
}

runs_of_03() {
	local n

	for n in 1 2 3; do
		: >"$scratch/server.log"
		./server -1 -t 20 write > >(tee "$scratch/server.log" |
			stamped server) 2>&1 &
		server=$!
		await "a server that listens" server_listens
		./client -a "$address" write 2>&1 | stamped client
		wait "$server"
		server=''
	done
}

# What a kernel or a program draws at random.
without_random() {
	sed -E 's/0x[0-9a-f]+|\b[0-9a-f]{2}(:[0-9a-f]{2})+|pid [0-9]+/X/g'
}

@test "a node's own time: two boots, the same lines in the same order at the same times" {
	local n

	for n in 1 2; do
		run -0 "$top/scripts/lab.sh" reset a
		CHAPTER=03_pure_verbs FUNCTIONS=stamped on_device a runs_of_03 |
			without_random >"$BATS_TEST_TMPDIR/$n"
	done
	[[ $(wc -l <"$BATS_TEST_TMPDIR/1") -gt 60 ]]
	diff "$BATS_TEST_TMPDIR/1" "$BATS_TEST_TMPDIR/2"
}

# order END A B: prints a run's lines of END that match A or B, as the letters.
order() {
	local line

	while IFS= read -r line; do
		[[ ! $line =~ $2 ]] || printf A
		[[ ! $line =~ $3 ]] || printf B
	done <"$scratch/$1.log"
}

# run_seeded SEED MODE…: a pair, whose order the number decides. Linux 6.12 also lets
# it matter where the clock's tick falls, so all runs begin at a whole second.
run_seeded() {
	local wait

	seeded "$1"
	shift
	printf -v wait '0.%06d' $((1000000 - 10#${EPOCHREALTIME#*[.,]}))
	sleep "$wait"
	start_server "${at[@]}" ./server -1 -t 20 "$@"
	run_client 0 "${at[@]}" ./client -a "$address" -t 20 "$@"
	end_of server "$server" 0
	server=''
}

# both_orders END A B MODE…: some number gives A before B, some the other way; and
# each gives the same once more.
both_orders() {
	local end=$1 a=$2 b=$3 n this
	local -A seed=()

	shift 3
	for ((n = 1; n <= 60 && ${#seed[@]} < 2; n++)); do
		run_seeded "$n" "$@"
		this=$(order "$end" "$a" "$b")
		: "${seed[$this]:=$n}"
	done
	[[ ${#seed[@]} -ge 2 ]] || fail "60 numbers give one order: ${!seed[*]}"
	for this in "${!seed[@]}"; do
		run_seeded "${seed[$this]}" "$@"
		[[ $(order "$end" "$a" "$b") == "$this" ]] ||
			fail "${seed[$this]} gave $this, and now another order"
		echo "$end: $this with ${seed[$this]}"
	done
}

@test "a race of 01: either order can be asked for by its number, again and again" {
	CHAPTER=01_send_recv FUNCTIONS='order run_seeded' on_device a both_orders \
		client '^received message' '^send completed'
}

@test "a race of 02: the same" {
	CHAPTER=02_write_read FUNCTIONS='order run_seeded' on_device a both_orders \
		client 'opcode=128,' '^send completed' write
}

@test "a race of 03: the same" {
	CHAPTER=03_pure_verbs FUNCTIONS='order run_seeded' on_device a both_orders \
		client 'opcode=128,' '^send completed' write
}
