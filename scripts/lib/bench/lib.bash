# lib.bash - what the measurements in this folder share
#
# Sourced by them where the RDMA device is. Sets address and pairs, their arguments, top
# and tmp (a folder of their own); what they start with serve() is ended when they end.
# shellcheck shell=bash disable=SC2034 # of those who source it

# shellcheck source=scripts/lib/cli.sh
source "${BASH_SOURCE[0]%/*}/../cli.sh"
cli_help "$@"
address=$1 pairs=$2
top=$(cd "${BASH_SOURCE[0]%/*}/../../.." && pwd)
# Nothing here may take longer, and nothing waits longer for a listener.
limit=300
server=''

# Servers run there, clients run here, and programs are below where. With two hosts, or two
# nodes, those are a and b, and this script runs on neither; else, all of that is this machine.
on_a=() on_b=() where=$top
if grep -qx '# nodes: 2' "$0"; then
	on_a=("$top/scripts/lab.sh" exec a --) on_b=("$top/scripts/lab.sh" exec b --)
fi
if [[ -n ${HOSTS:-} ]]; then
	# shellcheck source=scripts/lib/device.sh
	source "$top/scripts/lib/device.sh"
	on_a=(hosts_run a) on_b=(hosts_run b)
	where=$(hosts_path "$top")
fi

tmp=$(mktemp -d)
trap 'kill $server 2>/dev/null || true; rm -rf "$tmp"' EXIT

fail() {
	echo "bench: $*" >&2
	exit 1
}

# section TITLE OURS THEIRS: what the lines that follow compare.
section() {
	printf '#%s\t%s\t%s\n' "$@"
}

# serve COMMAND…: in the background; what it says goes to "served".
serve() {
	: >"$tmp/served"
	"${on_a[@]}" timeout "$limit" "$@" >"$tmp/served" 2>&1 &
	server=$!
}

# on NODE FOLDER COMMAND: in a folder of the repository, on a node of the lab.
on() {
	timeout "$limit" "$top/scripts/lab.sh" exec "$1" -- \
		bash -c "cd '$top/$2' && $3" </dev/null
}

# serve_on_a FOLDER COMMAND [PORT]: on node a, in the background; and waits until it
# says that it listens, or does so at the TCP port.
serve_on_a() {
	serve bash -c "cd '$top/$1' && exec $2"
	if [[ -n ${3:-} ]]; then
		await is_listening "$3"
	else
		await grep -q '^listening' "$tmp/served"
	fi
}

# await COMMAND…: until what serve() started has done what COMMAND looks for.
await() {
	local deadline=$((SECONDS + limit))

	until "$@"; do
		kill -0 "$server" 2>/dev/null ||
			fail "the server ended: $(cat "$tmp/served")"
		[[ $SECONDS -lt $deadline ]] || fail "no listener in $limit s"
		sleep 0.02
	done
}

is_listening() {
	[[ -n $("${on_a[@]}" ss -Htln "sport = :$1") ]]
}

# end_server: waits until it has ended by itself, and the device is idle.
end_server() {
	wait "$server" || fail "the server failed: $(cat "$tmp/served")"
	server=''
}

# stop_server: ends it, where it may not end by itself; and it may.
stop_server() {
	kill "$server" 2>/dev/null || true
	wait "$server" || true
	server=''
}

# The end of chapter 07's bench/ that lends, on ADDRESS. It says that it listens; ss does
# not know.
serve_07() {
	serve "$where/07_full_speed/bench/bench" -1 -a "$1" -t 60 lend
	await grep -q '^listening' "$tmp/served"
}

# client_07 ADDRESS ARGUMENT…: one benchmark; its table, as comma-separated
# values, goes to "table".
client_07() {
	local address=$1

	shift
	serve_07 "$address"
	"${on_b[@]}" timeout "$limit" "$where/07_full_speed/bench/bench" -a "$address" -t 60 -c \
		"$@" measure >"$tmp/table" || fail "bench/bench $*: failed"
	end_server
}

# column OPERATION NAME: one value of "table".
column() {
	awk -F, -v op="$1" -v name="$2" '
		$1 == "op" { for (i = 1; i <= NF; i++) where[$i] = i }
		$1 == op { print $where[name] }' "$tmp/table"
}
