# end.sh - what the exercise end asks for; sourced by scripts/exercise.sh
# shellcheck shell=bash disable=SC2154

run own 'server: ./first' 'client: ./first 192.0.2.1'
well 'the sender ends well' own client
well 'and so does the receiver' own server
want 'the receiver has counted the messages' own/server.log '^received 1024 messages, all as'
run pauses 'server: ./first pause' 'client: ./first 192.0.2.1'
well 'a receiver that pauses is served, too' pauses client
want 'and has all messages' pauses/server.log '^received 1024 messages, all as'
# Streams that end within a round of credits, and at its end.
for stream in few:10 none:0 full:63; do
	messages=${stream#*:} stream=${stream%:*}
	peer "$stream" first <<-END_PATCH
		--- a/first.c
		+++ b/first.c
		@@ -23,5 +23,5 @@
		 #define SIZE 4096 /* the bytes of a message */
		 #define DEPTH 64 /* receives, and sends, that are posted at a time */
		-#define MESSAGES 1024 /* in the stream */
		+#define MESSAGES $messages /* in the stream */
		 #define PAUSE_MS 30 /* of a receiver that pauses, after each DEPTH messages */
		 #define TIMEOUT_MS 10000 /* how long the peer may take for one step */
	END_PATCH
	run "$stream" 'server: ./first' "client: $place/peer_$stream/first 192.0.2.1"
	well "a sender of $messages messages gets all credits back" "$stream" client
	want 'and its receiver has counted them' "$stream/server.log" "^received $messages messages, all as"
done
# It has one receive, and is late with it after the last message.
peer late first <<'END_PATCH'
--- a/first.c
+++ b/first.c
@@ -90,5 +90,5 @@
 					      IBV_ACCESS_LOCAL_WRITE));
 
-	for (int i = 0; ok && i < DEPTH; i++)
+	for (int i = 0; ok && i < 1; i++)
 		ok = post_receive(conn, conn->theirs[i]);
 	return ok;
@@ -212,4 +212,5 @@
 	if (slot && conn->wc.byte_len == 0)
 		return post_receive(conn, slot); /* the end */
+	readable(-1, i == 1023 ? 500 : 0);
 	return slot && CHECK(conn->wc.byte_len == SIZE) &&
 	       CHECK(*slot == (char)i) &&
@@ -224,5 +225,5 @@
 	int i;
 
-	if (!give_credits(conn, DEPTH))
+	if (!give_credits(conn, 1))
 		return false;
 	for (i = 0; !end; i += !end) {
@@ -232,5 +233,5 @@
 		owed++;
 		/* For half of them at a time, and at the end for the rest. */
-		if (owed == DEPTH / 2 || end) {
+		if (owed == 1) {
 			if (!give_credits(conn, owed))
 				return false;
END_PATCH
run late "server: $place/peer_late/first" 'client: ./first 192.0.2.1'
well 'the end waits for a credit, too' late client
want 'and it is an empty message' late/server.log '^received 1024 messages, all as'
