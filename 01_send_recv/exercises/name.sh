# name.sh - what the exercise name asks for; sourced by scripts/exercise.sh
# shellcheck shell=bash disable=SC2154

run own "server: $(serving ./server)" 'client: ./client -a 192.0.2.1' \
	'client2: ORIGINAL/client -a 192.0.2.1' \
	'client3: ./client -a 192.0.2.1' "stop: $stopping"
ends 'a client that says its name is served' own client 0
ends 'one that does not is not' own client2 1
ends 'and the next one is again' own client3 0
ends 'the server ends well' own server 0
pid=$(sed -n 's/^received message: .* with pid //p' "$place/own/server.log" |
	head -n 1)
want 'the name has the pid that the message has, too' own/server.log \
	"^private data: client with pid ${pid:-unknown}\$" 1
want 'the server prints a name for each who has one' own/server.log \
	'^private data: client with pid [0-9]+$' 2
want 'and an empty one for the one who has none' own/server.log \
	'^private data: $' 1
want 'the client that was refused knows by whom' own/client2.err \
	'REJECTED \(status 28\)' 1
want 'the server says an error' own/server.err '^error: ' 1
run once 'server: ./server -1' 'client: ORIGINAL/client -a 192.0.2.1'
ends 'a server with -1 that has refused its client ends with 1' once server 1
