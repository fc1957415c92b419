#!/usr/bin/env bash
# hand_in.sh - put what you have done into one file, to be graded
#
# usage: scripts/hand_in.sh [FILE]      (make hand-in, NAME='Your Name', FILE=mine.json)
#
# FILE (build/hand-in.json by default) gets the C files in work/ that differ from what
# was handed out, and nothing else: look at it, it is text. The name is $NAME.
#
# Exit status: 0 done, 1 there is nothing to hand in, or it would be refused; 2 usage.
set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/lib/cli.sh
source "$top/scripts/lib/cli.sh"

cli_help "$@"
[[ $# -le 1 && ${1:-} != -* ]] || cli_misuse "which FILE?"
cli_checked
"$top/scripts/lib/python.sh" repair.hand_in "$top" "${1:-$top/build/hand-in.json}"
