# judge.sh - what a repair of deaf must do; sourced by scripts/repair.sh
# shellcheck shell=bash disable=SC2154,SC2034

recorded default text
together default
# The server returns from rdma_accept() only when the client has sent.
hold="CALLS_HOLD=$place/late/go"
watched late 'server: ./server -1' \
	"client&: ORIGINAL/client -a 192.0.2.1" \
	"look: $(look late/client.log '^connected' 20)" \
	"go: touch $place/late/go"
hold=
well 'the receive is there before the client can send' late client
well 'and the server gets its message, however late it looks' late server
# Nothing that is posted may be lost without a word.
broken_peer no_send server
run silent "server: $place/peer_no_send/server -1" 'client: ./client -a 192.0.2.1'
fails 'the client still says so if the server sends nothing' silent client
