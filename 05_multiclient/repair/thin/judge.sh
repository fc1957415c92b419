# judge.sh - what a repair of thin must do; sourced by scripts/repair.sh
# shellcheck shell=bash disable=SC2154

broken_peer stolen_rkey load/load
run theft 'server: ./server -e 2 read' \
	"client: $place/peer_stolen_rkey/load/load -n 2 -a 192.0.2.1 read"
want 'the second client is refused the memory of the first' theft/client.err \
	'^error: Client 2: RDMA operation: status 10 '
want 'the first one is served' theft/client.log '^2 connections: 1 served, 0 refused, 1 failed'
# Four at a time; and the server still runs when they have gone.
watched four "server: $(serving ./server read)" \
	'client: ./load/load -n 4 -a 192.0.2.1 read' "stop: $stopping"
well 'four clients are served' four client
want 'each of them has a domain of its own' four/server.calls '^alloc_pd' 4
want 'and each domain goes again' four/server.calls '^dealloc_pd 0$' \
	"$(count four/server.calls '^alloc_pd')"
want 'the server says so' four/server.log '^.figures. objects held: 0 PDs, '
honest four
recorded write
