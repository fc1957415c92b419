# allow.sh - what the exercise allow asks for; sourced by scripts/exercise.sh
# shellcheck shell=bash disable=SC2154

mine=$place/mine
openssl x509 -in "$mine/certs/server.pem" -noout -fingerprint -sha256 \
	>"$mine/other.txt"
{
	cat "$mine/other.txt"
	openssl x509 -in "$mine/certs/client.pem" -noout -fingerprint -sha256
} >"$mine/good.txt"
run own 'server: ./server -1 --allow good.txt write' \
	'client: ./client -a 192.0.2.1 write'
ends 'a client in the list is served' own client 0
ends 'the server ends well' own server 0
run other "server: $(serving ./server -L now.txt write)" \
	"copy: bash -c 'cp other.txt now.txt'" \
	'client: ./client -a 192.0.2.1 write' \
	"copy2: bash -c 'cp good.txt now.txt'" \
	'client2: ./client -a 192.0.2.1 write' \
	"look: $(look other/server.log '^peer disconnected' 45)" "stop: $stopping"
ends 'a client that is not in the list is refused' other client 1
want 'before it creates a queue pair' other/client.log 'INIT' 0
want 'the server says so, in one line' other/server.err '^error: ' 1
ends 'the next one is served, since the list has changed' other client2 0
ends 'the server ends well, all the same' other server 0
run none 'server: ./server -1 --allow nothing.txt write' \
	'client: ./client -a 192.0.2.1 write'
ends 'without the file nobody is served' none client 1
run all 'server: ./server -1 write' 'client: ./client -a 192.0.2.1 write'
ends 'without the option everybody is' all client 0
