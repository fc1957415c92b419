# judge.sh - what a repair of kind must do; sourced by scripts/repair.sh
# shellcheck shell=bash disable=SC2154

# Sets of certificates beside the right ones: each with a CA of its own.
for other in other 'late --days -1' 'elsewhere --names DNS:elsewhere.example'; do
	read -r dir options <<<"$other"
	# shellcheck disable=SC2086 # the options are words
	"$place/mine/certs.sh" $options "$place/mine/$dir" >/dev/null
done
# of DIR ROLE: the options for its certificate.
of() {
	echo "-C $1/$2.pem -K $1/$2.key"
}
run stranger 'server: ./server -1 write' \
	"client: ./client -a 192.0.2.1 $(of other client) write"
fails 'a client of another CA is refused' stranger server 'verify failed'
run impostor "server: ./server -1 $(of other server) write" \
	'client: ./client -a 192.0.2.1 write'
fails 'and so is a server of another CA' impostor client 'verify failed'
# A chain that ends in its CA is complete, and what is wrong is told of the CA, not of the leaf.
for role in client server; do
	cat "$place/mine/other/"{"$role",ca}.pem >"$place/mine/other/chain_$role.pem"
done
own="-C other/chain_client.pem -K other/client.key"
run brings_ca 'server: ./server -1 write' "client: ./client -a 192.0.2.1 $own write"
fails 'so is a client that brings its CA along' brings_ca server 'verify failed'
run server_brings_ca "server: ./server -1 ${own//client/server} write" \
	'client: ./client -a 192.0.2.1 write'
fails 'and a server that brings its own' server_brings_ca client 'verify failed'
run late 'server: ./server -1 -A late/ca.pem write' \
	"client: ./client -a 192.0.2.1 $(of late client) write"
fails 'a certificate that has expired is refused' late server 'verify failed'
run elsewhere 'server: ./server -1 -A elsewhere/ca.pem write' \
	"client: ./client -a 192.0.2.1 $(of elsewhere client) write"
fails 'and one that is for another host' elsewhere server 'verify failed'
run role 'server: ./server -1 write' \
	"client: ./client -a 192.0.2.1 $(of certs server) write"
fails 'and one that is for another role' role server 'verify failed'
broken_peer no_client_cert client
run nobody 'server: ./server -1 write' \
	"client: $place/peer_no_client_cert/client -A certs/ca.pem -a 192.0.2.1 write"
fails 'who has no certificate is refused' nobody server 'without a certificate'
recorded write
