# judge.sh - what a repair of reader must do; sourced by scripts/repair.sh
# shellcheck shell=bash disable=SC2154

recorded read
together read
# Whoever reads first; and more than one packet.
run first 'server: ./server -1 -o first -b 65536 read' \
	'client: ./client -a 192.0.2.1 -b 65536 read'
want 'the client has read all of it' first/client.log '^65536 bytes verified' 1
want 'and so has the server' first/server.log '^65536 bytes verified' 1
