# three.sh - what the exercise three asks for; sourced by scripts/exercise.sh
# shellcheck shell=bash disable=SC2154

run own "server: $(serving ./server)" 'client: ./client -a 192.0.2.1 -s again' \
	'client2: ./client -a 192.0.2.1 -s once_more' \
	'client3: ./client -a 192.0.2.1 -s last' \
	"stop: $stopping"
ends 'the first client ends well' own client 0
ends 'the next one does, too' own client2 0
ends 'and one more' own client3 0
ends 'the server ends well' own server 0
want 'the client sends three messages' own/client.log \
	'^send completed successfully\.$' 3
want 'the client receives one' own/client.log '^received message: ' 1
want 'the server receives three from the first client' own/server.log \
	'^received message: again$' 3
want 'and three from the second' own/server.log \
	'^received message: once_more$' 3
want 'the server sends one to each of three clients' own/server.log \
	'^send completed successfully\.$' 3
want 'each receive and each send is a success' own/server.log \
	'^wc->status = 0 ' 12
run old 'server: ./server -1 -t 3' 'client: ORIGINAL/client -a 192.0.2.1 -t 3'
ends 'a client that sends one message only is an error of the server' \
	old server 1
