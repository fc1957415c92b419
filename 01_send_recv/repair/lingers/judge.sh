# judge.sh - what a repair of lingers must do; sourced by scripts/repair.sh
# shellcheck shell=bash disable=SC2154

run ends 'server: ./server -1' 'client: timeout 5 ./client -a 192.0.2.1'
well 'the client ends by itself' ends client
# All that follows would wait for a minute each time.
[[ $bad -eq 0 ]] || verdict
recorded default text
together default
taken=$(count default/client.calls '^get_cm_event')
given=$(count default/client.calls '^ack_cm_event')
check 'each event that is taken is acknowledged' default \
	"${taken:-none} are taken, and ${given:-none} acknowledged" \
	test "${taken:-0}" = "${given:-1}"
# The library has destroyed one of its own before.
check 'and the id is destroyed' default 'it is not the last thing that the client does' \
	test "$(tail -n 1 "$place/default/client.calls")" = 'destroy_id 0'
run nobody 'client: timeout 5 ./client -a 192.0.2.1'
fails 'so is the id of a client that nobody lets in' nobody client REJECTED
