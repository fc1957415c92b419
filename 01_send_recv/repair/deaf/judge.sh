# judge.sh - what a repair of deaf must do; sourced by scripts/repair.sh
# shellcheck shell=bash disable=SC2154

recorded default text
together default
late_server
# Nothing that is posted may be lost without a word.
broken_peer no_send server
run silent "server: $place/peer_no_send/server -1" 'client: ./client -a 192.0.2.1'
fails 'the client still says so if the server sends nothing' silent client
