# judge.sh - what a repair of crooked must do; sourced by scripts/repair.sh
# shellcheck shell=bash disable=SC2154

recorded first
run their_client 'server: ./first' 'client: ORIGINAL/first 192.0.2.1'
same 'the run first with the original client' their_client "$top/$chapter/expected/first"
run their_server 'server: ORIGINAL/first' 'client: ./first 192.0.2.1'
same 'the run first with the original server' their_server "$top/$chapter/expected/first"
run writes 'server: ORIGINAL/first write' 'client: ./first 192.0.2.1'
want 'no value is mixed while the server writes' writes/client.log '^1000 values, 0 of them mixed; torn reads: [1-9]'
