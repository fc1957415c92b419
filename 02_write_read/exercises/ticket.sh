# ticket.sh - what the exercise ticket asks for; sourced by scripts/exercise.sh
# shellcheck shell=bash disable=SC2154

run own "server: $(serving ./server ticket)" 'client: ./client -a 192.0.2.1 ticket' \
	'client2: ./client -a 192.0.2.1 ticket' \
	'client3: ./client -a 192.0.2.1 ticket' "stop: $stopping"
ends 'the client ends well' own client 0
ends 'the server ends well' own server 0
want 'the first client gets 0' own/client.log '^ticket: 0$' 1
want 'the second gets 1' own/client2.log '^ticket: 1$' 1
want 'the third gets 2' own/client3.log '^ticket: 2$' 1
want 'the server gets 0 from each' own/server.log '^ticket: 0$' 3
want 'it is a fetch-and-add' own/client.log \
	'^\[on_completion\] .*status=0 .*opcode=4,' 1
run write 'server: ./server -1 write' 'client: ./client -a 192.0.2.1 write'
ends 'the mode write ends well' write client 0
want 'and writes' write/server.log '^remote buffer: message from active' 1
run other 'server: ./server -1 ticket' 'client: ./client -a 192.0.2.1 read'
ends 'two modes do not go together' other client 1
