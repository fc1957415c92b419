# judge.sh - what a repair of weary must do; sourced by scripts/repair.sh
# shellcheck shell=bash disable=SC2154

# few RUN COMMAND: clients, one after another, of a server that may have few
# descriptors; and then two that do as the server does.
few() {
	watched "$1" "server: bash -c 'echo \$\$ >server.pid; ulimit -n 64; exec ./server -m 8 -t 3 write'" \
		"first: $2" 'load: ./load/load -N 2 -t 3 -a 192.0.2.1 write' \
		"stop: $stopping"
}
few served './load/load -N 60 -t 3 -a 192.0.2.1 write'
want 'every client is served' served/first.log '^60 connections: 60 served'
well 'and the server has nothing to complain of' served server
# These ask for what the server does not do: it ends early for them.
few failing "bash -c 'for i in {1..15}; do ./load/load -n 4 -t 3 -a 192.0.2.1 read; done'"
well 'so is who comes after clients that fail' failing load
honest failing
recorded write
