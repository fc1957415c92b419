# sure.sh - what the exercise sure asks for; sourced by scripts/exercise.sh
# shellcheck shell=bash disable=SC2154

# in_order FILE COUNT: the numbers that were dealt with, each once.
in_order() {
	diff -q <(sed -n 's/^dealt with \([0-9]*\)\.$/\1/p' "$place/$1") \
		<(seq 0 $(($2 - 1))) >/dev/null
}

run own 'setup: scripts/setup_rds.sh tcp' \
	'server: ./server -1 -a 192.0.2.1 -T tcp' \
	'client: ./client -a 192.0.2.1 -T tcp -n 50 sure'
well 'the client ends well' own client
well 'the server ends well' own server
want 'the client says that all were dealt with' own/client.log \
	'^all 50 were dealt with; sent again: [0-9]+\.$' 1
check 'the server has dealt with each once, in order' own own/server.log \
	in_order own/server.log 50
run two 'setup: scripts/setup_rds.sh tcp' \
	"server: $(serving ./server -a 192.0.2.1 -T tcp)" \
	'client: ./client -a 192.0.2.1 -T tcp -n 1 sure' \
	'client2: ./client -a 192.0.2.1 -T tcp -n 1 sure' "stop: $stopping"
well 'so it does for the next client' two client2
want 'whose numbers begin with 0 again' two/server.log '^dealt with 0\.$' 2
# The first server never reads, and is ended.
run restart 'setup: scripts/setup_rds.sh tcp' \
	"server1: $(serving ./server -w 100 -a 192.0.2.1 -T tcp)" \
	'client&: ./client -a 192.0.2.1 -T tcp -t 30 -n 20 sure' \
	"look: $(look restart/client.log '^sent 0 again' 20)" \
	"ender: $stopping" \
	"gone: $(look restart/.server1.status . 45)" \
	'server2: ./server -1 -a 192.0.2.1 -T tcp'
ends 'without an answer, a message is sent again' restart look 0
ends 'a server that takes the place of another gets what that did not read' \
	restart client 0
want 'the client says how often it sent again' restart/client.log \
	'^all 20 were dealt with; sent again: [1-9][0-9]*\.$' 1
check 'nothing is left out there, and nothing is double' restart \
	restart/server2.log in_order restart/server2.log 20
# A server that is stopped for a while finds the same message twice.
run twice 'setup: scripts/setup_rds.sh tcp' \
	"server: $(serving ./server -1 -a 192.0.2.1 -T tcp)" \
	"pause: bash -c 'kill -STOP \$(<server.pid)'" \
	'client&: ./client -a 192.0.2.1 -T tcp -t 30 -n 3 sure' \
	"look: $(look twice/client.log '^sent 0 again' 20)" \
	"go: bash -c 'kill -CONT \$(<server.pid)'"
well 'a server that was slow ends well' twice server
well 'and so does its client' twice client
check 'what was sent twice is dealt with once' twice twice/server.log \
	in_order twice/server.log 3
# A server that answers each message with the word for the first.
peer other server <<'END_PATCH'
--- a/server.c
+++ b/server.c
@@ -189,4 +189,5 @@
 	uint32_t number = ntohl(rds->in->number);
 
+	dgram_fill(rds->in, DGRAM_SURE, 0, "");
 	if (is_new(&server->dealt, &rds->news.from, number))
 		log_line("dealt with %u.", number);
END_PATCH
run other 'setup: scripts/setup_rds.sh tcp' \
	"server: $(serving "$place/peer_other/server" -a 192.0.2.1 -T tcp)" \
	'client: ./client -a 192.0.2.1 -T tcp -t 3 -n 3 sure' "stop: $stopping"
fails 'an answer to another message is none to this one' other client
run nobody 'setup: scripts/setup_rds.sh tcp' \
	'client: ./client -a 192.0.2.1 -p 4999 -T tcp -t 3 -n 1 sure'
fails 'if nobody answers, the client gives up' nobody client
want_at_least 'after it has tried again' nobody/client.log '^sent 0 again\.$' 1
