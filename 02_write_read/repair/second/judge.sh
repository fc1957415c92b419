# judge.sh - what a repair of second must do; sourced by scripts/repair.sh
# shellcheck shell=bash disable=SC2154

recorded write read
# A client that is killed in the middle.
other_peer leaves client <<'END_PATCH'
--- a/transfer.c
+++ b/transfer.c
@@ -210,2 +210,3 @@
 
+	__builtin_trap();
 	return send_msg(t, SLOT_SEND_DONE, msg);
END_PATCH
watched several "server: $(serving ./server write)" \
	'client1: ./client -a 192.0.2.1 write' \
	'client2: ORIGINAL/client -a 192.0.2.1 write' \
	"leaves: $place/peer_leaves/client -a 192.0.2.1 write" \
	'client3: ./client -a 192.0.2.1 write' \
	'client4: ./client -a 192.0.2.1 -o first write' "stop: $stopping"
well 'the first client is served' several client1
well 'the second client is served' several client2
well 'so is one that comes after a client which was killed' several client3
well 'and one that begins the conversation itself' several client4
ends 'the server ends well' several server 0
want 'and has got what each of them wrote' several/server.log \
	'^remote buffer: message from active/client side' 4
