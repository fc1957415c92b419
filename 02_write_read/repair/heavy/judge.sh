# judge.sh - what a repair of heavy must do; sourced by scripts/repair.sh
# shellcheck shell=bash disable=SC2154

# balanced WHAT RUN PROGRAM: what it has registered in RUN, it has deregistered.
balanced() {
	local made freed

	made=$(count "$2/$3.calls" '^reg_mr')
	freed=$(count "$2/$3.calls" '^dereg_mr 0$')
	check "$1" "$2" "$3: ${made:-none} are registered, ${freed:-none} deregistered" \
		test "${made:-0}" = "${freed:-1}"
}
recorded write read
well 'nothing is left for the server to complain of' write server
balanced 'each region of the server is deregistered' write server
balanced 'and each one of the client' write client
# The server refuses a client that wants something else.
watched other "server: $(serving ./server write)" \
	'client1: ./client -a 192.0.2.1 read' 'client2: ./client -a 192.0.2.1 write' \
	"stop: $stopping"
balanced 'also those of a client that is not served' other server
balanced 'and that client does the same' other client1
want 'no protection domain is lost' other/server.err ibv_dealloc_pd 0
