# role.sh - what the runs do not show of check_role(); see scripts/exercise.sh
# shellcheck shell=bash disable=SC2154

run role 'server: ./server -1 write' \
	'client: ./client -a 192.0.2.1 -C certs/server.pem -K certs/server.key write'
ends 'a client that shows a certificate for a server is refused' role client 1
ends 'by the server' role server 1
want 'which says why' role/server.err 'unsuitable certificate purpose'
run server_role 'server: ./server -1 -C certs/client.pem -K certs/client.key write' \
	'client: ./client -a 192.0.2.1 write'
ends 'a server that shows a certificate for a client is refused' server_role server 1
ends 'by the client' server_role client 1
want 'which says why, too' server_role/client.err 'unsuitable certificate purpose'
# Certificates that do not say what they are for.
sed /extendedKeyUsage/d "$place/mine/certs.sh" >"$place/mine/bare.sh"
bash "$place/mine/bare.sh" "$place/mine/bare" >/dev/null
run bare_client 'server: ./server -1 -A bare/ca.pem write' \
	'client: ./client -a 192.0.2.1 -C bare/client.pem -K bare/client.key write'
fails 'a client whose certificate is for no role is refused' bare_client server \
	'unsuitable certificate purpose'
run bare_server 'server: ./server -1 -C bare/server.pem -K bare/server.key write' \
	'client: ./client -a 192.0.2.1 -A bare/ca.pem write'
fails 'and such a server' bare_server client 'unsuitable certificate purpose'
as_case wrong_ca expired
