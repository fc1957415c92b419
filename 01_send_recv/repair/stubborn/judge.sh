# judge.sh - what a repair of stubborn must do; sourced by scripts/repair.sh
# shellcheck shell=bash disable=SC2154

recorded default text
together default
late_server
