# judge.sh - what a repair of wide must do; sourced by scripts/repair.sh
# shellcheck shell=bash disable=SC2154

# fit RUN SERVER CLIENT MTU: they agree on MTU, and 64 KiB arrive at both ends.
fit() {
	run "$1" "server: $2 -1 -b 65536 write" "client: $3 -a 192.0.2.1 -b 65536 write"
	well "$1: the client is well" "$1" client
	well "$1: the server is well" "$1" server
	want "$1: the client's packets have $4 bytes" "$1/client.log" \
		"^INIT -> RTR: .* path_mtu=$4,"
	want "$1: so have the server's" "$1/server.log" "^INIT -> RTR: .* path_mtu=$4,"
}
fit small_client './server' './client -M 256' 256
fit small_server './server -M 512' './client' 512
[[ $bad -eq 0 ]] || verdict
recorded psn_by_hand
fit neither './server' './client' 1024
fit their_client './server' 'ORIGINAL/client -M 256' 256
fit their_server 'ORIGINAL/server -M 256' './client' 256
