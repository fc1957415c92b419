# unreliable.sh - what the exercise unreliable asks for; sourced by
# scripts/exercise.sh
# shellcheck shell=bash disable=SC2154

run own 'server: ./server -1 write' 'client: ./client -a 192.0.2.1 write'
ends 'the mode write ends well for the client' own client 0
ends 'and for the server' own server 0
want 'the echo came back' own/client.log '^echo: ' 1
want 'the client has written' own/server.log \
	'^remote buffer: message from active/client side with pid [0-9]+$' 1
want 'the server has written' own/client.log \
	'^remote buffer: message from passive/server side with pid [0-9]+$' 1
run reading 'server: ./server -1 read' 'client: ./client -a 192.0.2.1 read' \
	'client2: ./client -a 192.0.2.1 -n 10'
ends 'a server refuses to read' reading server 2
want 'and has opened nothing' reading/server.log '^Opened|^listening' 0
ends 'a client refuses to read' reading client 2
want 'and has opened nothing, either' reading/client.log 'connected|^Opened' 0
ends 'and to run the benchmark' reading client2 2
run mixed 'server: ORIGINAL/server -1 -t 3 write' \
	'client: ./client -a 192.0.2.1 -t 3 write'
ends 'one that is reliable and one that is not: the server fails' mixed server 1
ends 'and so does the client' mixed client 1
want 'since nobody acknowledges what the reliable one sends' mixed/server.err \
	'status 12 ' 1
