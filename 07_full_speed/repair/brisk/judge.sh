# judge.sh - what a repair of brisk must do; sourced by scripts/repair.sh
# shellcheck shell=bash disable=SC2154

big=/usr/share/common-licenses/GPL-3
run their_server "server: $(files ORIGINAL/server)" \
	"client: ./client -a 192.0.2.1 -t 3 -q 4 -b 256 send $big"
well 'this client can send to the original server' their_server client
watched long "server: $(files ./server)" \
	"client: ./client -a 192.0.2.1 -t 3 -q 4 -b 256 send $big"
well 'a long file arrives' long client
well 'and the server has it' long server
honest long
run their_client "server: $(files ./server)" \
	"client: ORIGINAL/client -a 192.0.2.1 -t 3 -q 4 -b 256 write $big"
well 'the original client can send to this server' their_client client
# Who says that it owes more than there is must still be told.
broken_peer one_credit_too_many client
run liar "server: $(files ./server)" \
	"client: $place/peer_one_credit_too_many/client -a 192.0.2.1 -t 3 -q 4 -b 256 send $big"
fails 'a client that returns too much is refused' liar server 'protocol error: the peer returns'
recorded send
