# judge.sh - what a repair of decent must do; sourced by scripts/repair.sh
# shellcheck shell=bash disable=SC2154

run silent 'server: ./first 3' \
	"client: bash -c 'exec 3<>/dev/tcp/192.0.2.1/4433 4<>/dev/tcp/192.0.2.1/4433; ./first 192.0.2.1'"
well 'a client is served beside two that say nothing' silent client
want 'of whom the server still says that they failed' silent/server.log \
	'^Client [12]: failed\.$' 2
broken_peer killed first
run killed 'server: ./first 2' \
	"dead: env KILLED=1 $place/peer_killed/first 192.0.2.1" \
	'client: ./first 192.0.2.1'
well 'a client is served beside one that was killed' killed client
want_order 'and need not wait for the end of that' killed/server.log \
	'^Client 2: served' '^Client 1: failed'
recorded first
