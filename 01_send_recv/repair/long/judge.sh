# judge.sh - what a repair of long must do; sourced by scripts/repair.sh
# shellcheck shell=bash disable=SC2154

recorded default text
longest=$(printf 'x%.0s' {1..1024})
run eighty 'server: ./server -1' \
	"client: ORIGINAL/client -a 192.0.2.1 -s '${longest:0:80}'"
want 'a message of 80 bytes arrives whole' eighty/server.log "message: x{80}\$"
run longest 'server: ./server -1' \
	"client: ./client -a 192.0.2.1 -s '$longest'"
well 'the longest message can be sent' longest client
want 'and arrives whole, with its 1024 bytes' longest/server.log "message: x{1024}\$"
run too_long "client: ./client -a 192.0.2.1 -s '${longest}x'"
ends 'a longer one is still refused before anything is sent' too_long client 2
# A peer that sends more than anybody may.
other_peer talks client <<'END_PATCH'
--- a/message.c
+++ b/message.c
@@ -10,5 +10,5 @@
 {
 	/* Sending only reads the memory; receiving writes to it. */
-	if (region_open(&message->send, message->conn, MESSAGE_SIZE, 0))
+	if (region_open(&message->send, message->conn, 8 * MESSAGE_SIZE, 0))
 		return -1;
 	return region_open(&message->recv, message->conn, MESSAGE_SIZE,
@@ -32,5 +32,5 @@
 	struct ibv_sge sge = {
 		.addr = (uintptr_t)message->send.buf,
-		.length = length,
+		.length = 1025 + 0 * length,
 		.lkey = message->send.mr->lkey,
 	};
END_PATCH
run talks 'server: ./server -1' "client: $place/peer_talks/client -a 192.0.2.1"
want 'and one that comes all the same is not taken' talks/server.log \
	'^received message' 0
ends 'but ends the connection' talks server 1
