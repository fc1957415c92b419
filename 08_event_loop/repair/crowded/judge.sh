# judge.sh - what a repair of crowded must do; sourced by scripts/repair.sh
# shellcheck shell=bash disable=SC2154

# crowd RUN CLIENTS: so many ask at the same time.
crowd() {
	watched "$1" "server: $(serving ./server)" \
		"load: ./load/load -n $2 -j 1 -q $2 -t 8 -a 192.0.2.1 sum" "stop: $stopping"
	want "$1: all of $2 clients are served" "$1/load.log" "^$2 connections: $2 served"
	ends "$1: and the server lives" "$1" server 0
}
crowd many 64
[[ $bad -eq 0 ]] || verdict
recorded crowd sum
# As it can have so many clients at a time, its CQ has room for so many.
watched more "server: $(serving ./server -m 12000)" \
	'client: ./client -a 192.0.2.1 sum' "stop: $stopping"
well 'it can be told to take more clients' more client
# room RUN CLIENTS: two completions of each receive, and one of each client.
room() {
	local have posted

	have=$(sed -n 's/^create_cq entries=//p' "$place/$1/server.calls" | head -n 1)
	posted=$(sed -n 's/^create_srq receives=//p' "$place/$1/server.calls" | head -n 1)
	check "with $2 clients, the CQ has room for all that can come" "$1" \
		"${have:-no} entries, with ${posted:-no} receives" \
		test "${have:-0}" -ge $((2 * ${posted:-100000} + $2))
}
room many 10000
room more 12000
