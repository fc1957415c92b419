# judge.sh - what a repair of terse must do; sourced by scripts/repair.sh
# shellcheck shell=bash disable=SC2154

watched short 'server: ./server -1 -t 3 write' 'client: ./client -a 192.0.2.1 -t 3 write'
well 'the client gets its connection' short client
well 'and the server has its parameters' short server
together write
honest short
recorded read
