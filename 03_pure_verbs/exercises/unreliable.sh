# unreliable.sh - what the exercise unreliable asks for; sourced by
# scripts/exercise.sh
# shellcheck shell=bash disable=SC2154

run own 'server: ./server -1 write' 'client: ./client -a 192.0.2.1 write'
well 'the mode write ends well for the client' own client
well 'and for the server' own server
want 'the client has written' own/server.log \
	'^remote buffer: message from active/client side with pid [0-9]+$'
want 'the server has written' own/client.log \
	'^remote buffer: message from passive/server side with pid [0-9]+$'
run reading 'server: ./server -1 read' 'client: ./client -a 192.0.2.1 read'
ends 'a server refuses to read' reading server 2
want 'and has opened nothing' reading/server.log '' 0
want 'and says so in one line' reading/server.err '^error: '
ends 'a client refuses to read' reading client 2
want 'and has opened nothing, either' reading/client.log '' 0
want 'and says so in one line' reading/client.err '^error: '
run mixed 'server: ORIGINAL/server -1 -t 3 write' \
	'client: ./client -a 192.0.2.1 -t 3 write'
fails 'one that is reliable and one that is not: the server fails, since nobody acknowledges what it sends' \
	mixed server 'status 12 '
fails 'and so does the client' mixed client
run mixed2 'server: ./server -1 -t 3 write' \
	'client: ORIGINAL/client -a 192.0.2.1 -t 3 write'
fails 'and the other way round' mixed2 server
