# judge.sh - what a repair of told must do; sourced by scripts/repair.sh
# shellcheck shell=bash disable=SC2154

recorded write read
together write
together read
