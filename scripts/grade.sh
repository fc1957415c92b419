#!/usr/bin/env bash
# grade.sh - points for a hand-in
#
# usage: scripts/grade.sh [--text|--tap|--json] FILE     (make grade FILE=mine.json,
#                                                         FORM=tap)
#
# FILE is what `make hand-in` has written. Each task begins with what was handed out;
# only C files are taken from FILE, and nothing that the learner's machine says about itself.
# They are built within limits, looked at, and run in a lab of its own, which has two
# nodes and ends with the script. A repair is worth 3 points, a function that was filled
# in 1. It refuses what is bad, and says why: a path that leads elsewhere, a file that is
# too large or not C, a program that starts others or reads files where the chapter does not.
#
# Exit status: 0 graded, 1 FILE is refused, 2 usage.
set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/lib/cli.sh
source "$top/scripts/lib/cli.sh"

cli_help "$@"
form=--text
case ${1:-} in
--text | --tap | --json)
	form=$1
	shift
	;;
esac
[[ $# -eq 1 && $1 != -* ]] || cli_misuse "which FILE?"
[[ -e $1 ]] || cli_misuse "there is no $1; make hand-in writes one"
cli_checked
export LAB_NAME=grade-$$
# The places of two that grade at a time are not the same.
place=$top/build/grade/$$
trap 'rm -rf "$place"; "$top/scripts/lab.sh" down >/dev/null 2>&1 || true' EXIT
"$top/scripts/lab.sh" up --nodes 2 >&2
# A check that gets no answer gives up sooner than a reader would.
PAIR_LIMIT=60 "$top/scripts/lib/python.sh" repair.grade "$form" "$top" "$1" "$place"
