#!/usr/bin/env bash
# loss.sh - makes the network of a lab's node lose packets
#
# usage: scripts/lib/repair/loss.sh PERCENT|off
#
# It runs on the node, as a `setup` line of a file `commands` does, or for wire.sh: 1%
# loses one packet in a hundred of those that come in. `off` makes the network whole again.
set -euo pipefail

top=$(cd "$(dirname "$0")/../../.." && pwd)
# shellcheck source=scripts/lib/cli.sh
source "$top/scripts/lib/cli.sh"

cli_help "$@"
[[ $# -eq 1 && $1 =~ ^([0-9]+(\.[0-9]+)?%|off)$ ]] || cli_misuse "1%, or off?"
if [[ -e /sys/class/net/ifb0 ]]; then
	tc qdisc del dev eth0 ingress
	ip link del ifb0
fi
[[ $1 != off ]] || exit 0
# netem works on what goes out: what comes in is sent once more, and lost there.
ip link add ifb0 type ifb
ip link set ifb0 up
tc qdisc add dev eth0 ingress
tc filter add dev eth0 parent ffff: matchall action mirred egress redirect dev ifb0
tc qdisc add dev ifb0 root netem limit 10000 loss "$1"
