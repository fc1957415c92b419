#!/usr/bin/env bash
# bats_tap.sh - run one bats file and keep its TAP
#
# usage: scripts/maint/bats_tap.sh DIR FILE.bats
#
# DIR/FILE.part, if it is there, says in its first line, a regular expression, which
# of its tests run, and in its second through which chapters they go: tests that
# loop over chapters look at CHECK_CHAPTERS (check_plan.py).
set -euo pipefail

# shellcheck source=scripts/lib/cli.sh
source "$(dirname "$0")/../lib/cli.sh"
cli_help "$@"
[[ $# -eq 2 ]] || cli_misuse "DIR and FILE.bats are needed"
name=$(basename "$2" .bats) some=()
unset CHECK_CHAPTERS
if [[ -e $1/$name.part ]]; then
	{ read -r regex && read -r CHECK_CHAPTERS; } <"$1/$name.part"
	export CHECK_CHAPTERS
	some=(--filter "$regex")
fi
bats --tap --timing --print-output-on-failure "${some[@]}" "$2" |
	tee "$1/$name.tap"
