# access.sh - what the runs do not show of exposed_access(); see scripts/exercise.sh
# shellcheck shell=bash disable=SC2154

want 'in write, the peer may write' write/client.calls '^reg_mr .* access=0x3$'
want 'and nothing may be read' write/client.calls \
	'^reg_mr .* access=0x[0-9a-f]*[4-7c-f]$' 0
want 'in read, the peer may read' read/client.calls '^reg_mr .* access=0x4$'
want 'and not write' read/client.calls '^reg_mr .* access=0x[0-9a-f]*[2367a-f]$' 0
