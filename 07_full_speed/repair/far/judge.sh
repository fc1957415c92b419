# judge.sh - what a repair of far must do; sourced by scripts/repair.sh
# shellcheck shell=bash disable=SC2154

# On two nodes; nodes: 2.
lossy far 1% "server: bash -c 'd=\$(mktemp -d) && ./server -1 -t 8 -d \$d; s=\$?; rm -r \$d; exit \$s'" \
	"client: bash -c 'd=\$(mktemp -d) && seq 100000 >\$d/numbers && ./client -a 192.0.2.1 -t 5 -b 65536 send \$d/numbers; s=\$?; rm -r \$d; exit \$s'"
well 'with one packet in a hundred lost, the file arrives' far client
want 'and the server has all of it' far/server.log '^stored: 588895 bytes' 1
well 'without a word' far server
want 'the client says how often it is tried' far/client.calls '^tries retry_count=[2-6]$' 1
honest far
recorded send
