# judge.sh - what a repair of family must do; sourced by scripts/repair.sh
# shellcheck shell=bash disable=SC2154

# What lies in certs/ may be older than certs.sh.
make -s -C "$place/mine" certs >&2
own="-C $original/certs/server.pem -K $original/certs/server.key"
run family 'server: ./server -1 write' 'client: ./client -a 192.0.2.1 write'
well 'the client is let in' family client
well 'and the server ends well' family server
# The original's certificates have the same names, and are of another CA.
run server_of_another "server: ./server -1 $own write" \
	'client: ./client -a 192.0.2.1 write'
fails 'a server of another CA is refused' server_of_another client 'verify failed'
run client_of_another 'server: ./server -1 write' \
	"client: ./client -a 192.0.2.1 ${own//server/client} write"
fails 'a client of another CA is refused' client_of_another server 'verify failed'
check 'the key of the CA is gone' family 'certs/ has more keys than two' \
	test "$(grep -l 'PRIVATE KEY' "$place/mine/certs/"* | wc -l)" -eq 2
check 'what was made is not made anew each time' family 'certs.sh --if-needed does' \
	test -z "$(cd "$place/mine" && ./certs.sh --if-needed)"
recorded write
