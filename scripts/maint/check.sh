#!/usr/bin/env bash
# check.sh - run the tests, side by side
#
# usage: scripts/maint/check.sh [fast|long|CHAPTER] [PYTEST_OPTION...]
#        (make check, make check CH=04)
#
# Without an argument: all tests but those in tests/long. fast: those that need no device.
# long: those that take long, a fault at every call, and all tasks. A chapter: those that it
# needs. tests/conftest.py says more of them. pytest's own options choose some, such as
# -k 04_wire or --lf for those that failed the last time; the results are in
# build/junit.xml, too.
set -euo pipefail

cd "$(dirname "$0")/../.."
# shellcheck source=scripts/lib/cli.sh
source scripts/lib/cli.sh
cli_help "$@"
case ${1:-} in
fast) options=(-n 2 -m 'not device' tests) ;;
long)
	export EVERY_CALL=1 EVERY_TASK=1
	options=(-n 2 tests/long tests/test_every_call.py tests/test_tasks.py)
	;;
'' | -*) options=(-n 4 tests) ;;
*)
	cli_chapter "$1"
	options=(-n 4 --chapter "$chapter" tests)
	;;
esac
cli_checked
[[ $# -eq 0 || $1 == -* ]] || shift
# What make was told, such as TESTS, is not meant for those that the tests start.
unset MAKEFLAGS MAKEOVERRIDES TESTS CH
exec /usr/bin/python3 -m pytest --junitxml=build/junit.xml "${options[@]}" "$@"
