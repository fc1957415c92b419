# judge.sh - what a repair of guests must do; sourced by scripts/repair.sh
# shellcheck shell=bash disable=SC2154

watched guests "server: $(serving ./server -m 2 write)" \
	"wrong: bash -c 'for i in 1 2 3 4 5 6; do ./client -a 192.0.2.1 read; done'" \
	'load: ./load/load -N 6 -a 192.0.2.1 write' "stop: $stopping"
well 'who comes after clients that fail is served' guests load
want 'nobody is left' guests/server.log '^.figures. connected: 0 of 2; shaking hands: 0$'
want 'and they are counted as what they were' guests/server.log \
	'^.figures. served: 6; refused: 0; failed: 6$'
want 'where they stopped' guests/server.log '^.figures. failed at: .*transfer 6,'
honest guests
# There are still no more places than there are.
run full "server: $(serving ./server -m 2 write)" \
	'load: ./load/load -n 5 -w 2 -a 192.0.2.1 write' "stop: $stopping"
want 'there are no more places than before' full/load.log \
	'^5 connections: 2 served, 3 refused, 0 failed'
recorded write
