# role.sh - what the runs do not show of check_role(); see scripts/exercise.sh
# shellcheck shell=bash disable=SC2154

run role 'server: ./server -1 write' \
	'client: ./client -a 192.0.2.1 -C certs/server.pem -K certs/server.key write'
ends 'a client that shows a certificate for a server is refused' role client 1
ends 'by the server' role server 1
want 'which says why' role/server.err 'unsuitable certificate purpose'
as_case wrong_ca expired
