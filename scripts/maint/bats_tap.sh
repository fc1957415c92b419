#!/usr/bin/env bash
# bats_tap.sh - run one bats file for prove and keep its TAP
#
# usage: scripts/maint/bats_tap.sh DIR FILE.bats
set -euo pipefail

bats --tap --timing --print-output-on-failure "$2" |
	tee "$1/$(basename "$2" .bats).tap"
