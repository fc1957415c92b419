#!/usr/bin/env bash
# action.sh - the steps of action.yml
#
# usage: scripts/lib/action.sh prepare|run
#
# prepare installs what the lab needs; with WANTED_ENGINE=uml, it builds its kernel.
# run is `lab.sh run` with the inputs in WANTED_COMMAND, WANTED_BESIDE (on node b),
# WANTED_NODES, _DEVICE, _ENGINE, _KERNEL, _LOSS and _CAPTURE, of which each but the
# command may be empty; its exit status is the command's.
set -euo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=scripts/lib/cli.sh
source "$top/scripts/lib/cli.sh"
cli_help "$@"

case ${1:-} in
prepare)
	sets=(lab)
	[[ ${WANTED_ENGINE:-} != uml ]] || sets+=(build kernel)
	"$top/scripts/install_deps.sh" "${sets[@]}"
	[[ ${WANTED_ENGINE:-} != uml ]] || exec "$top/scripts/lab.sh" kernel
	;;
run)
	[[ -n ${WANTED_COMMAND:-} ]] || cli_misuse "no command is given"
	words=()
	for name in nodes device engine kernel loss capture; do
		value=WANTED_${name^^}
		[[ -z ${!value:-} ]] || words+=("--$name" "${!value}")
	done
	[[ -z ${WANTED_BESIDE:-} ]] || words+=(--on b "$WANTED_BESIDE")
	exec "$top/scripts/lab.sh" run "${words[@]}" -- bash -ec "$WANTED_COMMAND"
	;;
*) cli_misuse "prepare or run must be given" ;;
esac
