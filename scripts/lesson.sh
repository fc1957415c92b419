#!/usr/bin/env bash
# lesson.sh - print what a chapter adds to the one before it, to be read
#
# usage: scripts/lesson.sh CHAPTER      (make lesson CH=03)
#
# CHAPTER is 1, 01 or 01_send_recv. Prints the code of the chapter's top level in
# the reading order of its README.md: new files whole, changed ones as the
# difference from the chapter that it starts from, and the names of those that
# are gone. What any careful program needs is left out (plumbing/, load/, bench/); the end says how
# much that is. For 01, prints everything.
#
# On a terminal it has colour, and a pager: $PAGER, or less.
#
# Exit status: 0 printed, 2 usage.
set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/lib/cli.sh
source "$top/scripts/lib/cli.sh"

cli_help "$@"
[[ $# -le 1 && ${1:-} != -* ]] || cli_misuse "which CHAPTER?"
cli_chapter "${1:-}"
lesson=("$top/scripts/lib/python.sh" lesson "$top" "$chapter")
if [[ ! -t 1 ]]; then
	exec "${lesson[@]}"
fi
if [[ -n ${PAGER:-} ]] || command -v less >/dev/null; then
	# Without them, less would show colours as ESC[32m.
	LESS=${LESS:-FRX} exec bash -c "${PAGER:-less}" < <("${lesson[@]}" yes)
fi
exec "${lesson[@]}" yes
