#!/usr/bin/env bash
# gids.sh - gives the entries of a node's table of GIDs other places
#
# usage: scripts/lib/repair/gids.sh moved|more|back
#
# It runs on the lab's node, as a `setup` line of a file `commands` does. `moved` takes
# the node's IPv4 address away, adds another one, and gives it its own again: then the other
# one has its place in the table. `more` adds the other one behind its own. `back`
# makes the table what it was.
set -euo pipefail

top=$(cd "$(dirname "$0")/../../.." && pwd)
# shellcheck source=scripts/lib/cli.sh
source "$top/scripts/lib/cli.sh"

cli_help "$@"
[[ $# -eq 1 && $1 =~ ^(moved|more|back)$ ]] || cli_misuse "moved, more, or back?"
other=198.51.100.9/32
present=$(ip -4 -o addr show dev eth0)
own=$(grep -o '192\.0\.2\.[0-9]*/24' <<<"$present")
if [[ $present == *"$other"* ]]; then
	ip addr del "$other" dev eth0
elif [[ $1 == back ]]; then
	exit 0
fi
ip addr del "$own" dev eth0
[[ $1 != moved ]] || ip addr add "$other" dev eth0
ip addr add "$own" dev eth0
[[ $1 != more ]] || ip addr add "$other" dev eth0
