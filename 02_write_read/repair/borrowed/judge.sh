# judge.sh - what a repair of borrowed must do; sourced by scripts/repair.sh
# shellcheck shell=bash disable=SC2154

recorded write read
together write
want 'the peer may write to one region' write/client.calls '^reg_mr .* access=0x3$'
want 'and what is only sent from has no rights' write/client.calls \
	'^reg_mr .* access=0x0$'
