# judge.sh - what a repair of stranger must do; sourced by scripts/repair.sh
# shellcheck shell=bash disable=SC2154

recorded default text
longest=$(printf 'x%.0s' {1..1024})
run longest 'server: ./server -1' \
	"client: ORIGINAL/client -a 192.0.2.1 -s '$longest'"
want 'the longest message arrives whole' longest/server.log "message: x{1024}\$"
# A server that leaves without a word: the receive fails, and all is of one chapter.
broken_peer no_send server
run silent "server: $place/peer_no_send/server -1" 'client: ./client -a 192.0.2.1'
fails 'a receive that fails is said to have failed' silent client \
	'^error: receive: status 5'
# A peer that writes with immediate data, which uses up a receive and brings nothing.
other_peer other client <<'END_PATCH'
--- a/message.c
+++ b/message.c
@@ -39,6 +39,6 @@
 		.sg_list = &sge,
 		/* Some devices take a length of 0 to mean 2^31. */
-		.num_sge = length ? 1 : 0,
-		.opcode = IBV_WR_SEND,
+		.num_sge = 0,
+		.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
 	};
 
END_PATCH
run other 'server: ./server -1' "client: $place/peer_other/client -a 192.0.2.1"
fails 'and what is none of ours is still taken for that' other server '^error: protocol'
