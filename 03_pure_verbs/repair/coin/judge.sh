# judge.sh - what a repair of coin must do; sourced by scripts/repair.sh
# shellcheck shell=bash disable=SC2154

# begins RUN SERVER CLIENT PSN PSN: each end expects the other's number, and all goes well.
begins() {
	run "$1" "server: $2 -1 -t 4 -b 65536 --psn $4 write" \
		"client: $3 -a 192.0.2.1 -t 4 -b 65536 --psn $5 write"
	well "$1: the client is well" "$1" client
	well "$1: the server is well" "$1" server
	want "$1: the server expects what the client has told" "$1/server.log" \
		"^INIT -> RTR: .* rq_psn=$5,"
	want "$1: and the client what the server has told" "$1/client.log" \
		"^INIT -> RTR: .* rq_psn=$4,"
}
begins upper ./server ./client 0x123456 0x923456
[[ $bad -eq 0 ]] || verdict
recorded psn_by_hand read
begins around ./server ./client 0xfffffe 0x7ffffe
begins their_client ./server ORIGINAL/client 0x800000 0xa00001
begins their_server ORIGINAL/server ./client 0xc0ffee 0xfffffd
