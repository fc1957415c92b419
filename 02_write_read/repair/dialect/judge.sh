# judge.sh - what a repair of dialect must do; sourced by scripts/repair.sh
# shellcheck shell=bash disable=SC2154

recorded write
together write
together read
want 'the length, 1024, is big-endian on the wire' write/client.calls \
	'^post_send opcode=2 bytes=52444d41.*00000400 length=24$'
# A peer that says it in the other order has a mistake, and is told so.
other_peer other client <<'END_PATCH'
--- a/transfer.c
+++ b/transfer.c
@@ -200,3 +200,3 @@
 		.rkey = htobe32(exposed->mr->rkey),
-		.length = htobe32(exposed->size),
+		.length = exposed->size,
 	};
END_PATCH
run other 'server: ./server -1 write' "client: $place/peer_other/client -a 192.0.2.1 write"
fails 'a length in the other order is refused' other server 'bytes of memory'
