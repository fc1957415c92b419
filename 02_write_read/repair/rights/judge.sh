# judge.sh - what a repair of rights must do; sourced by scripts/repair.sh
# shellcheck shell=bash disable=SC2154

recorded write read
together write
want 'the peer may write to one region' write/client.calls \
	'^reg_mr .* access=0x3$'
want 'and read none' write/client.calls '^reg_mr .* access=0x[0-9a-f]*[4-7c-f]$' 0
want 'what is only sent from has no rights' write/client.calls \
	'^reg_mr .* access=0x0$'
want 'nor has any region more rights than these in read' read/client.calls \
	'^reg_mr .* access=0x[0-9a-f]*[2367a-f]$' 0
