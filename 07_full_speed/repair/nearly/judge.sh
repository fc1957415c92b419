# judge.sh - what a repair of nearly must do; sourced by scripts/repair.sh
# shellcheck shell=bash disable=SC2154

big=/usr/share/common-licenses/GPL-3
watched one "server: $(files ./server)" \
	'client: ./client -a 192.0.2.1 -t 3 send /usr/share/common-licenses/BSD'
well 'the client ends well' one client
well 'and so does the server' one server
honest one
# So many of them that the queue would be full if nobody heard that it is not.
run sixty "server: $(files ./server)" "client: bash -c 'c=\$PWD/client d=\$(mktemp -d) && cd \$d && seq 60 | split -l 1 && \$c -a 192.0.2.1 -t 3 -q 16 write *; s=\$?; rm -r \$d; exit \$s'"
well 'sixty small files arrive' sixty client
want 'and the server has all of them' sixty/server.log '^stored: ' 60
watched parts "server: $(files ./server)" \
	"client: ./client -a 192.0.2.1 -t 3 -q 64 -b 256 write $big"
well 'a file of many parts arrives' parts client
heard=$(count parts/client.calls '^completion status=0 opcode=[01]$')
check 'a completion stands for many requests' parts \
	"the client has asked for ${heard:-no} of them" test "${heard:-999}" -le 100
recorded write
