# judge.sh - what a repair of stubborn must do; sourced by scripts/repair.sh
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
