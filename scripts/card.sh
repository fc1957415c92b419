#!/usr/bin/env bash
# card.sh - describe an RDMA card of this machine, and what keeps it from working
#
# usage: scripts/card.sh [-d DEVICE] [PEER]      (make doctor, with PEER=ADDRESS)
#
# Looks at each RDMA device of this machine that is not Soft-RoCE, or at DEVICE,
# whatever that is: driver and firmware, ports, GIDs, MTU, flow control, NUMA,
# container. With PEER, the address of another machine on the same network, it sends
# pings that must not be fragmented, to see whether the path carries whole packets. For
# what is missing, it names the cause and the fix. It changes nothing and needs no root.
# It was written from the kernel's documentation, without a card.
#
# Exit status: 0 nothing is missing, 1 something is, or there is no such device, 2
# usage.
# shellcheck disable=SC2154 # set by the parts
set -euo pipefail

PATH=$PATH:/usr/sbin:/sbin
top=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/lib/cli.sh
source "$top/scripts/lib/cli.sh"
for part in tell facts host device check card; do
	# shellcheck source=/dev/null
	source "$top/scripts/lib/rxe/$part.sh"
done

cli_help "$@"
wanted='' peer=''
while (($#)); do
	case $1 in
	-d)
		[[ -n ${2:-} ]] || cli_misuse '-d needs a device'
		wanted=$2
		shift
		;;
	-*) cli_misuse "there is no option $1" ;;
	*)
		[[ -z $peer ]] || cli_misuse "one PEER at the most, not '$1' as well"
		cli_address "$1"
		peer=$1
		;;
	esac
	shift
done
# The parts are written for a shell that does not end at the first failure.
set +e +u

find_devices
if [[ -n $wanted && ! -d $ib/$wanted ]]; then
	echo "card: there is no RDMA device $wanted here; there is:" \
		"${names[*]:-none}" >&2
	exit 1
fi
looked=no
for name in "${names[@]}"; do
	find_parent "$name"
	[[ $name == "$wanted" || (-z $wanted && -z $parent) ]] || continue
	looked=yes
	card_check "$name" "$peer"
done
if [[ $looked == no ]]; then
	echo "card: there is no RDMA card here${names:+, only Soft-RoCE}"
	exit 0
fi
check_memlock
if [[ $verdict -eq 0 ]]; then
	echo 'card: nothing is in the way'
else
	echo 'card: do what "fix" says above'
	exit 1
fi
