# judge.sh - what a repair of mute must do; sourced by scripts/repair.sh
# shellcheck shell=bash disable=SC2154

recorded write read
together write
want 'each of our three requests has its completion' write/client.calls \
	'^completion status=0 opcode=[0-2]$' 3
want 'and the server has them, too' write/server.calls \
	'^completion status=0 opcode=[0-2]$' 3
