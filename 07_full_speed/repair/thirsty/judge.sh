# judge.sh - what a repair of thirsty must do; sourced by scripts/repair.sh
# shellcheck shell=bash disable=SC2154

big=/usr/share/common-licenses/GPL-3
watched long "server: $(files ./server)" \
	"client: ./client -a 192.0.2.1 -t 3 -q 4 -b 256 send $big"
well 'a long file arrives' long client
well 'and the server has it' long server
honest long
run their_client "server: $(files ./server)" \
	"client: ORIGINAL/client -a 192.0.2.1 -t 3 -q 4 -b 256 send $big"
well 'the original client can send it to this server' their_client client
run their_server "server: $(files ORIGINAL/server)" \
	"client: ./client -a 192.0.2.1 -t 3 -q 4 -b 256 send $big"
well 'this client can send it to the original server' their_server client
# A WRITE has no header that could return credits.
run written "server: $(files ./server)" \
	"client: ./client -a 192.0.2.1 -t 3 -q 6 -b 256 write $big"
well 'so does one that is written' written client
recorded send
