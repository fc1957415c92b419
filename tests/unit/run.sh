#!/usr/bin/env bash
# run.sh - run one unit test program
#
# usage: run.sh PROGRAM
#
# Exit status: that of the program: 0 if everything passed and no sanitizer complained.
set -euo pipefail

# shellcheck source=scripts/lib/cli.sh
source "$(dirname "$0")/../../scripts/lib/cli.sh"
cli_help "$@"
[[ $# -eq 1 ]] || cli_misuse "PROGRAM is needed"
export CMOCKA_MESSAGE_OUTPUT=TAP
export ASAN_OPTIONS=detect_leaks=1${ASAN_OPTIONS:+:$ASAN_OPTIONS}
export UBSAN_OPTIONS=print_stacktrace=1
exec timeout -k 5 120 "$1"
