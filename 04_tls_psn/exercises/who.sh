# who.sh - what the exercise who asks for; sourced by scripts/exercise.sh
# shellcheck shell=bash disable=SC2154

# print_of ROLE: the fingerprint of its certificate.
print_of() {
	openssl x509 -in "$place/mine/certs/$1.pem" -noout -fingerprint -sha256 |
		sed 's/.*=//; s/://g' | tr A-F a-f
}

address='([0-9]{1,3}\.){3}[0-9]{1,3}'
run own 'server: ./first' 'client: ./first 192.0.2.1'
well 'a client is served' own client
ends 'the server ends well' own server 0
want "the client says which certificate the server has" own/client.log \
	"^authenticated peer: $address, certificate $(print_of server)\$"
want "and the server which one the client has" own/server.log \
	"^authenticated peer: $address, certificate $(print_of client)\$"
# One that the server does not accept.
run other "server: ./first" \
	"client: bash -c 'mkdir -p other && ./certs.sh other/certs >/dev/null && cp certs/ca.pem other/certs && cd other && exec ../first 192.0.2.1'"
want 'a client that is refused says nothing of that' other/client.log '^authenticated' 0
want 'and neither does its server' other/server.log '^authenticated' 0
