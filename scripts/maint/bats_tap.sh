#!/usr/bin/env bash
# bats_tap.sh - run one bats file for prove and keep its TAP
#
# usage: scripts/maint/bats_tap.sh DIR FILE.bats
set -euo pipefail

# shellcheck source=scripts/lib/cli.sh
source "$(dirname "$0")/../lib/cli.sh"
cli_help "$@"
[[ $# -eq 2 ]] || cli_misuse "DIR and FILE.bats are needed"
bats --tap --timing --print-output-on-failure "$2" |
	tee "$1/$(basename "$2" .bats).tap"
