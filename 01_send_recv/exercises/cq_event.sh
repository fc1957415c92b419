# cq_event.sh - what the runs do not show of take_cq_event(); see scripts/exercise.sh
# shellcheck shell=bash disable=SC2154

# The server sends only when the client has taken an event, so that the client needs a
# second one.
server=$(witness second/server.calls ORIGINAL/server)
run second "server: ${server/ CALLS=/ CALLS_HOLD=$place/second/go CALLS=} -1" \
	"client&: $(witness second/client.calls ./client) -a 192.0.2.1" \
	"look: $(look second/client.calls '^get_cq_event' 20)" \
	"go: touch $place/second/go"
well 'a completion that comes after an event makes another event' second client
