# judge.sh - what a repair of crowded must do; sourced by scripts/repair.sh
# shellcheck shell=bash disable=SC2154

watched many "server: $(serving ./server)" \
	'load: ./load/load -n 64 -j 1 -q 64 -t 8 -a 192.0.2.1' "stop: $stopping"
want 'all of 64 clients are served' many/load.log '^64 connections: 64 served'
ends 'and the server lives' many server 0
[[ $bad -eq 0 ]] || verdict
recorded crowd
# Each receive is posted, or its echo is.
have=$(sed -n 's/^create_cq entries=//p' "$place/many/server.calls" | head -n 1)
posted=$(sed -n 's/^create_srq receives=//p' "$place/many/server.calls" | head -n 1)
check 'the CQ has room for all that can come' many \
	"${have:-no} entries, with ${posted:-no} receives" \
	test "${have:-0}" -ge "${posted:-100000}"
