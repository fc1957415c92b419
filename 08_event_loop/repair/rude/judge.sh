# judge.sh - what a repair of rude must do; sourced by scripts/repair.sh
# shellcheck shell=bash disable=SC2154

# Those of the first two are sent away; those of the third go, with echoes under way.
watched guests "server: $(serving ./server)" \
	'away1: ./load/load -n 17 -g 15 -a 192.0.2.1' \
	'away2: ./load/load -n 17 -g 15 -a 192.0.2.1' \
	'goes: timeout -s KILL 2 ./load/load -n 3 -g 14 -a 192.0.2.1' \
	"freed: $(look guests/server.log '^Client 3[567]: peer disconnected after' 20 3)" \
	'client: ./client -a 192.0.2.1' "stop: $stopping"
well 'who comes after them is served' guests client
want 'a client that takes no echo is sent away' guests/server.log \
	'^Client [0-9]*: sent away after 15 messages' 34
# calls REGEX: how many such calls the server has made.
calls() {
	count guests/server.calls "$1"
}
# Chunks of 256 are posted, and each that has brought something is posted again.
posted=$(calls '^post_srq_recv') brought=$(calls '^completion status=0 opcode=128')
chunks=$(calls '^reg_mr ')
check 'each receive is posted again' guests \
	"$brought have brought a message; beside $chunks chunks of 256, $((posted - 256 * chunks)) were posted" \
	test "$((posted - 256 * chunks))" -eq "$brought"
ends 'and the server ends well' guests server 0
[[ $bad -eq 0 ]] || verdict
recorded default crowd
