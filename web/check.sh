#!/usr/bin/env bash
# check.sh - the tests of the pages, in Chromium
#
# usage: web/check.sh [--pages]     (make check-web)
#
# Builds the pages and opens them: links, search, 390 pixels, no JavaScript; then
# the lab, where chapters run on two nodes in the page. --pages leaves the lab out.
set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/lib/cli.sh
source "$top/scripts/lib/cli.sh"
cli_help "$@"
tests=(tests/web/pages.browser.mjs tests/web/lab.browser.mjs)
case ${1:-} in
'') ;;
--pages) tests=(tests/web/pages.browser.mjs) ;;
*) cli_misuse "$1: there is no such option" ;;
esac
cli_checked
cd "$top"
web/build.sh "$@"
exec node --test --test-concurrency=1 "${tests[@]}"
