# judge.sh - what a repair of lost must do; sourced by scripts/repair.sh
# shellcheck shell=bash disable=SC2154

recorded psn_by_hand read
together write
# On two nodes the two ends have different addresses; nodes: 2.
run far 'nodes: 2' 'server: ./server -1 write' 'client: ./client -a 192.0.2.1 write'
well 'a client on another machine is served' far client
well 'and its server is well, too' far server
# The way must be that of the address in use.
run six 'nodes: 2' 'server: ./server -1 write' 'client: ./client -a 2001:db8::1 write'
well 'so is one with an address of another kind' six client
