# judge.sh - what a repair of yesterday must do; sourced by scripts/repair.sh
# shellcheck shell=bash disable=SC2154

recorded psn_by_hand read
# On two nodes, whose tables are in another order then; nodes: 2.
run moved 'nodes: 2' 'setup: scripts/lib/repair/gids.sh moved' 'server: ./server -1 write' \
	'client: ./client -a 192.0.2.1 write'
run six 'nodes: 2' 'server: ./server -1 write' 'client: ./client -a 2001:db8::1 write'
run back 'nodes: 2' 'setup: scripts/lib/repair/gids.sh back' 'server: ./server -1 write' \
	'client: ORIGINAL/client -a 192.0.2.1 write'
well 'the client finds its GID when the table has changed' moved client
well 'the server finds its own' moved server
well 'so do both with an address of another kind' six client
well 'and when all is as it was yesterday' back client
