# on_device.bash - what the tests do where the RDMA device is
#
# Sourced there by on_device() of helpers.bash, which has set build (the folder
# with ./server and ./client, and the working directory), shim (what at() needs
# for it), address (the server's) and test_limit (in seconds). A test's
# function calls these; the first that finds something wrong says what, shows what
# both ends said, and ends it.
# Under emulation each process costs a tenth of a second, so there are few.
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # set by on_device(); used by the tests

scratch=$(mktemp -d)
# A descriptor on which nothing ever comes, to pause without a process.
exec {silence}<> <(:)
server='' client=''

show_all() {
	local file

	for file in "$scratch"/*; do
		[[ -f $file && -s $file ]] || continue
		echo "--- ${file##*/}"
		cat "$file"
	done
}

fail() {
	local pid

	trap '' TERM
	echo "FAILED: $*${AT_SEED:+ (to have it again: AT_SEED=$AT_SEED)}"
	show_all
	for pid in $server $client; do
		[[ ! -e /proc/$pid ]] || head -n 3 "/proc/$pid/status"
	done
	rdma resource show cm_id || true
	exit 1
}

clean_up() {
	local pid

	for pid in $server $client; do
		kill -CONT "$pid" && kill -KILL "$pid"
	done 2>/dev/null
	wait 2>/dev/null
	rm -rf "$scratch"
}
trap clean_up EXIT
# When on_device() loses patience: this interrupts wait and read.
doing='nothing yet'
trap 'fail "it took too long: $doing"' TERM

# await WHAT COMMAND…: until COMMAND succeeds, for a third of the time that
# on_device() has: what never comes is told by its name, while there is still time
# to show what both ends said.
await() {
	local what=$1 end=$((SECONDS + ${test_limit:-300} / 3))

	doing="waiting for $1"
	shift
	until "$@"; do
		[[ $SECONDS -lt $end ]] || fail "there never was $what"
		read -rt 0.02 -u "$silence" || true
	done
}

# soon COMMAND…: whether it succeeds within a minute, for what comes a little
# late. Its failure is the caller's to tell of.
soon() {
	local end=$((SECONDS + 60))

	until "$@"; do
		[[ $SECONDS -lt $end ]] || return
		read -rt 0.02 -u "$silence" || true
	done
}

# state PID X: whether the process is in state X, where T is stopped.
state() {
	local stat

	read -r stat 2>/dev/null <"/proc/$1/stat" && [[ $stat == *') '$2* ]]
}
is_running() { [[ -e /proc/$1 ]] && ! state "$1" Z; }

# has_line FILE REGEX: whether one of its lines matches.
has_line() { count_lines "$1" "$2"; [[ $count -gt 0 ]]; }

# count_lines FILE REGEX: sets count, how many of its lines match.
count_lines() {
	local line

	count=0
	while IFS= read -r line; do
		[[ ! $line =~ $2 ]] || count=$((count + 1))
	done <"$scratch/$1"
}

# at CALL ACTION: sets the array at, to go before a program: see at_call.c.
at() {
	at=(env "AT_CALL=$1" "AT_ACTION=$2" "AT_REPORT=$scratch/at_call")
	[[ -z $shim ]] || at+=("LD_PRELOAD=$shim")
	: >"$scratch/at_call"
}

# seeded NUMBER: sets the array at, to go before both ends' programs: the number
# decides which of them is first wherever they race. See AT_SEED in at_call.c.
seeded() {
	export AT_SEED=$1
	at=(env "LD_PRELOAD=$shim")
}

# Starts a program as server, in the background, and waits until it listens.
start_server() {
	# Here and not only there, or the log of the server before is read.
	: >"$scratch/server.log"
	ended_well=false
	"$@" >"$scratch/server.log" 2>"$scratch/server.err" &
	server=$!
	await "a server that listens" server_listens
}
server_listens() {
	has_line server.log '^listening' && return
	is_running "$server" || fail "the server ended"
	return 1
}

# end_of NAME PID STATUS: waits for its end, which must have STATUS, such as 0
# or [01]; sets ended to what it had.
end_of() {
	ended=0
	doing="waiting for the end of the $1"
	wait "$2" 2>/dev/null || ended=$?
	# shellcheck disable=SC2053 # a pattern
	[[ $ended == $3 ]] || fail "the $1 ended with $ended, not with $3"
}

# stop_server [SIGNAL]: it must end with 0. A client that ended well did so a
# little earlier than the server's side of it, which is waited for.
stop_server() {
	! "${ended_well:-false}" || await "the server's end of it" server_is_done
	kill "-${1:-TERM}" "$server"
	end_of server "$server" 0
	server=''
}

# Starts a program as client, in the background.
start_client() {
	# Here too, or what the client before said is taken for this one's.
	: >"$scratch/client.log"
	: >"$scratch/client.err"
	ended_well=false
	"$@" >"$scratch/client.log" 2>"$scratch/client.err" &
	client=$!
}

# end_client STATUS: waits until it ends, which must be with STATUS; client_pid
# is what its pid was.
end_client() {
	end_of client "$client" "$1"
	client_pid=$client client=''
}

# run_client STATUS PROGRAM…: sets ms, how long it took.
run_client() {
	local status=$1 begin=${EPOCHREALTIME/./}

	shift
	start_client "$@"
	end_client "$status"
	[[ $ended -ne 0 ]] || ended_well=true
	ms=$(((${EPOCHREALTIME/./} - begin) / 1000))
}

# is_served [ARGUMENT…]: a client like any other, whatever was before it.
is_served() {
	run_client 0 ./client -a "$address" "$@"
	says_nothing client.err
	has_line client.log '^received message: message from passive' ||
		fail "the client received no message"
	has_line client.log '^disconnected\.$' ||
		fail "the client did not disconnect"
	# The client is done a little earlier than the server.
	await "a server that is done with the client" server_is_done
}
# What the server itself holds; it says that a client has left a little before.
no_queue_pair() {
	! rdma resource show qp | grep -q "pid $server "
}
# Each client that it heard of has left, or it has said what went wrong.
server_is_done() {
	local requests ends

	count_lines server.log '^received connection request'
	requests=$count
	count_lines server.log '^peer disconnected'
	ends=$count
	count_lines server.err '^error: '
	[[ $requests -le $((ends + count)) ]]
}

says_nothing() {
	[[ ! -s $scratch/$1 ]] || fail "$1 is not empty"
}

# says_one FILE REGEX…: FILE is one line, an error, that matches each REGEX.
says_one() {
	local file=$1 regex lines

	shift
	mapfile -t lines <"$scratch/$file"
	[[ ${#lines[@]} -eq 1 ]] || fail "$file is not one line"
	for regex in '^error: ' "$@"; do
		[[ ${lines[0]} =~ $regex ]] || fail "$file does not say: $regex"
	done
}

# objects_of_server: those of the device, and how many descriptors the server has;
# objects_are WHAT: they are what that printed; memory_of_server: in kB. It is idle.
objects_of_server() {
	rdma resource show
	echo "descriptors: $(find "/proc/$server/fd" -mindepth 1 | wc -l)"
}
objects_are() {
	after=$(objects_of_server)
	[[ $after == "$1" ]]
}
memory_of_server() {
	sed -n 's/^VmRSS:[[:blank:]]*\([0-9]*\) kB$/\1/p' "/proc/$server/status"
}
