# ticket.sh - what the exercise ticket asks for; sourced by scripts/exercise.sh
# shellcheck shell=bash disable=SC2154

# A client that adds 3, and one that ends as soon as it has its number.
peer three client <<'END_PATCH'
--- a/transfer.c
+++ b/transfer.c
@@ -283,3 +283,3 @@
 			.remote_addr = t->peer.addr,
-			.compare_add = 1,
+			.compare_add = 3,
 			.rkey = t->peer.rkey,
END_PATCH
peer leaves client <<'END_PATCH'
--- a/transfer.c
+++ b/transfer.c
@@ -230,2 +230,3 @@
 
+	__builtin_trap();
 	return send_msg(t, SLOT_SEND_DONE, msg);
END_PATCH
run own "server: $(witness own/server.calls "$(serving ./server ticket)")" \
	'client: ./client -a 192.0.2.1 ticket' \
	'client2: ./client -a 192.0.2.1 ticket' \
	"three: $place/peer_three/client -a 192.0.2.1 ticket" \
	'client3: ./client -a 192.0.2.1 ticket' \
	"leaves: $place/peer_leaves/client -a 192.0.2.1 ticket" \
	'client4: ./client -a 192.0.2.1 ticket' "stop: $stopping"
well 'the client ends well' own client
well 'and so does the last one' own client4
ends 'the server ends well' own server 0
want 'the first client gets 0' own/client.log '^ticket: 0$'
want 'the second gets 1' own/client2.log '^ticket: 1$'
want 'one that adds 3 gets 2' own/three.log '^ticket: 2$'
want 'and the next one 5, since the counter is what the clients make of it' \
	own/client3.log '^ticket: 5$'
want 'who leaves without a word has got a number, too: the next one gets 7' \
	own/client4.log '^ticket: 7$'
want 'the server gets 0 from each' own/server.log '^ticket: 0$' 5
want 'it is a fetch-and-add' own/client.log \
	'^\[on_completion\] .*status=0 .*opcode=4,'
want_at_least 'and so is that of the server' own/server.log \
	'^\[on_completion\] .*status=0 .*opcode=4,' 5
want_at_least "the peer may add to the server's memory" own/server.calls \
	'^reg_mr .* access=0x[0-9a-f]*[89a-f]$' 1
want 'and nobody may read or write it' own/server.calls \
	'^reg_mr .* access=0x[0-9a-f]*[2-7a-f]$' 0
for mode in write read; do
	run $mode "server: ./server -1 $mode" "client: ./client -a 192.0.2.1 $mode"
	well "the mode $mode ends well" $mode client
	well 'for the server, too' $mode server
	want "and the server has the client's text" $mode/server.log \
		'^remote buffer: message from active/client side with pid [0-9]+$'
done
run other 'server: ./server -1 ticket' 'client: ./client -a 192.0.2.1 read'
fails 'two modes do not go together, says the client' other client
ends 'nor does the server end well' other server 1
