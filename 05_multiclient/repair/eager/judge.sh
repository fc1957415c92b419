# judge.sh - what a repair of eager must do; sourced by scripts/repair.sh
# shellcheck shell=bash disable=SC2154

# The two strangers stay as long as the clients that come after them.
watched silent "server: $(serving ./server -m 2 -t 60 write)" \
	"client: bash -c 'exec 3<>/dev/tcp/192.0.2.1/4433 4<>/dev/tcp/192.0.2.1/4433; ./load/load -n 2 -a 192.0.2.1 write'" \
	"stop: $stopping"
well 'two strangers that say nothing keep nobody out' silent client
want 'and are counted where they stopped' silent/server.log \
	'^.figures. failed at: handshake 2, exchange 0,'
want 'nobody is left' silent/server.log '^.figures. connected: 0 of 2; shaking hands: 0$'
honest silent
# There are no more places than two.
run full 'server: ./server -m 2 -e 3 write' \
	'client: ./load/load -n 3 -w 2 -a 192.0.2.1 write'
want 'a third client is told that the server is full' full/client.log \
	'^3 connections: 2 served, 1 refused, 0 failed'
run late 'server: ./server -m 2 -e 1 -t 2 write' \
	"client: bash -c 'exec 3<>/dev/tcp/192.0.2.1/4433; cat <&3 || true'"
want 'a stranger is sent away when its time is over' late/server.log \
	'^.figures. failed at: handshake 1, exchange 0,'
recorded write
