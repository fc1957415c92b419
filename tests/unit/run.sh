#!/usr/bin/env bash
# run.sh - run one unit test program, and keep its results as TAP
#
# usage: run.sh PROGRAM [DIR]
#
# With DIR, what it says goes to DIR/unit_PROGRAM.tap as well. Exit status: that
# of the program: 0 if everything passed and no sanitizer complained.
set -euo pipefail

# shellcheck source=scripts/lib/cli.sh
source "$(dirname "$0")/../../scripts/lib/cli.sh"
cli_help "$@"
[[ $# -ge 1 ]] || cli_misuse "PROGRAM is needed"
export CMOCKA_MESSAGE_OUTPUT=TAP
export ASAN_OPTIONS=detect_leaks=1${ASAN_OPTIONS:+:$ASAN_OPTIONS}
export UBSAN_OPTIONS=print_stacktrace=1
if [[ $# -eq 1 ]]; then
	exec timeout -k 5 120 "$1"
fi
mkdir -p "$2"
timeout -k 5 120 "$1" | tee "$2/unit_$(basename "$1").tap"
