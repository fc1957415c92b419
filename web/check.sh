#!/usr/bin/env bash
# check.sh - the tests of the pages, in Chromium
#
# usage: web/check.sh [--pages|--long|--firefox]
#
# Builds the pages and opens them: links, search, 390 pixels, no JavaScript, what they
# may load and run; the box for an error line; the front page's button; a repair task;
# then the lab, where all logged runs of all chapters, and a case of each, run on two
# nodes in the page. Before that, actionlint reads the workflows.
# --pages leaves the lab out; --long runs all runs, cases, exercises and repair tasks in it
# instead, which takes an hour; --firefox opens the lab in Firefox instead (Debian's
# firefox-esr).
set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/lib/cli.sh
source "$top/scripts/lib/cli.sh"
cli_help "$@"
pages=()
tests=(actionlint.test {pages,policy,capture,explain,door,visit,repair,lab}.browser)
case ${1:-} in
'') ;;
--pages) tests=(actionlint.test {pages,policy,capture,explain}.browser) pages=(--pages) ;;
--long) tests=({cases,repairs}.browser) ;;
--firefox) tests=(lab.browser) && export BROWSER=firefox ;;
*) cli_misuse "$1: there is no such option" ;;
esac
cli_checked
cd "$top"
web/build.sh "${pages[@]}"
# shellcheck disable=SC2046 # no name has a space
exec node --test --test-concurrency=1 --test-reporter=tap \
	$(printf 'tests/web/%s.mjs ' "${tests[@]}")
