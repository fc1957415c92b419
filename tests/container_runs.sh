#!/usr/bin/env bash
# container_runs.sh - chapter 01 in containers, with what each may see
#
# usage: tests/container_runs.sh FOLDER
#
# Runs on the lab's node a, as root; FOLDER has chapter 01's programs. Prints each
# command, as it is given to container.py, and what it said: docs/container.txt is
# such a run. tests/container.bats compares the two.
set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/lib/cli.sh
source "$top/scripts/lib/cli.sh"
cli_help "$@"
[[ $# -eq 1 && -d $1 ]] || cli_misuse "FOLDER is needed"
cd "$1"
open='--network host --device /dev/infiniband'
server=$(mktemp)
errors=$(mktemp)
job=''

clean_up() {
	[[ -z $job ]] || kill "$job"
	wait
	[[ ! -e /run/netns/box ]] || remove_box
	until_true rdma system set netns shared
	rm -f "$server" "$errors"
}
trap clean_up EXIT

# until_true COMMAND…: within a minute.
until_true() {
	local end=$((SECONDS + 60))

	until "$@" >/dev/null 2>&1; do
		[[ $SECONDS -lt $end ]] || { echo "never: $*"; exit 1; }
		read -rt 0.1 <> <(:) || true
	done
}

# box ARGUMENT…: a container, with its command line before what it says.
box() {
	local status=0

	echo "\$ container.py $*"
	# Of one after the other: runc copies the two, and at times mixes their lines.
	timeout 120 "$top/tests/container.py" "$@" 2>"$errors" || status=$?
	cat "$errors"
	[[ $status -eq 0 ]] || echo "(exit status $status)"
}

# said COMMAND…: one outside.
said() {
	echo "\$ $*"
	"$@" 2>&1 || echo "(exit status $?)"
}

# A network of its own, which reaches this host and nothing else.
add_box() {
	ip netns add box
	ip link add to-box type veth peer name eth0 netns box
	ip addr add 198.51.100.1/24 dev to-box
	ip link set to-box up
	ip -n box addr add 198.51.100.2/24 dev eth0
	ip -n box link set eth0 up
}

remove_box() {
	ip link del to-box || true
	ip netns del box
}

# shellcheck disable=SC2086 # several words
{
	"$top/tests/container.py" $open ./server -a 192.0.2.1 >"$server" 2>&1 &
	job=$!
	until_true grep -q '^listening' "$server"
	said rdma system show netns
	box --network host ibv_devices
	box --network host ./client -a 192.0.2.1
	box --network host --volume /dev/infiniband ./client -a 192.0.2.1
	box $open ./client -a 192.0.2.1
	box $open --memlock 0 ./client -a 192.0.2.1
	box $open --memlock 0 --cap-add IPC_LOCK ./client -a 192.0.2.1
	add_box
	box --network box --device /dev/infiniband ibv_devices
	said rdma dev set rxe0 netns box
	box --network box --device /dev/infiniband ./client -a 198.51.100.1
	said rdma system set netns exclusive
	remove_box
	until_true rdma system set netns exclusive
	said rdma system show netns
	box $open ./client -a 192.0.2.1
	add_box
	box --network box --device /dev/infiniband ibv_devices
	box --network box --device /dev/infiniband ./client -a 198.51.100.1
	said rdma dev set rxe0 netns box
}
