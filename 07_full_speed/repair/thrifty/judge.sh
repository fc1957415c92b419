# judge.sh - what a repair of thrifty must do; sourced by scripts/repair.sh
# shellcheck shell=bash disable=SC2154

big=/usr/share/common-licenses/GPL-3
watched long "server: $(files ./server)" \
	"client: ./client -a 192.0.2.1 -t 3 -q 4 -b 256 send $big"
well 'a long file arrives' long client
well 'and the server has it' long server
# 138 parts: with a message for each two of them, these are some 70.
sent=$(count long/server.calls '^post_send')
check 'credits go back together' long "the server has sent ${sent:-no} messages" \
	test "${sent:-999}" -le 95
honest long
run their_client "server: $(files ./server)" \
	"client: ORIGINAL/client -a 192.0.2.1 -t 3 -q 5 -b 256 write $big"
well 'the original client can send it to this server' their_client client
run their_server "server: $(files ORIGINAL/server)" \
	"client: ./client -a 192.0.2.1 -t 3 -q 4 -b 256 send $big"
well 'this client can send it to the original server' their_server client
