# end.sh - what the exercise end asks for; sourced by scripts/exercise.sh
# shellcheck shell=bash disable=SC2154

run own 'server: ./first' 'client: ./first 192.0.2.1'
well 'the sender ends well' own client
well 'and so does the receiver' own server
want 'the receiver has counted the messages' own/server.log '^received 1024 messages, all as'
run pauses 'server: ./first pause' 'client: ./first 192.0.2.1'
well 'a receiver that pauses is served, too' pauses client
want 'and has all messages' pauses/server.log '^received 1024 messages, all as'
peer few first <<'END_PATCH'
--- a/first.c
+++ b/first.c
@@ -23,5 +23,5 @@
 #define SIZE 4096 /* the bytes of a message */
 #define DEPTH 64 /* receives, and sends, that are posted at a time */
-#define MESSAGES 1024 /* in the stream */
+#define MESSAGES 10 /* in the stream */
 #define PAUSE_MS 30 /* of a receiver that pauses, after each DEPTH messages */
 #define TIMEOUT_MS 10000 /* how long the peer may take for one step */
END_PATCH
run few 'server: ./first' "client: $place/peer_few/first 192.0.2.1"
well 'a sender of 10 messages gets all credits back' few client
want 'and its receiver has counted them' few/server.log '^received 10 messages, all as'
peer none first <<'END_PATCH'
--- a/first.c
+++ b/first.c
@@ -23,5 +23,5 @@
 #define SIZE 4096 /* the bytes of a message */
 #define DEPTH 64 /* receives, and sends, that are posted at a time */
-#define MESSAGES 1024 /* in the stream */
+#define MESSAGES 0 /* in the stream */
 #define PAUSE_MS 30 /* of a receiver that pauses, after each DEPTH messages */
 #define TIMEOUT_MS 10000 /* how long the peer may take for one step */
END_PATCH
run none 'server: ./first' "client: $place/peer_none/first 192.0.2.1"
well 'a sender of 0 messages gets all credits back' none client
want 'and its receiver has counted them' none/server.log '^received 0 messages, all as'
peer full first <<'END_PATCH'
--- a/first.c
+++ b/first.c
@@ -23,5 +23,5 @@
 #define SIZE 4096 /* the bytes of a message */
 #define DEPTH 64 /* receives, and sends, that are posted at a time */
-#define MESSAGES 1024 /* in the stream */
+#define MESSAGES 63 /* in the stream */
 #define PAUSE_MS 30 /* of a receiver that pauses, after each DEPTH messages */
 #define TIMEOUT_MS 10000 /* how long the peer may take for one step */
END_PATCH
run full 'server: ./first' "client: $place/peer_full/first 192.0.2.1"
well 'a sender of 63 messages gets all credits back' full client
want 'and its receiver has counted them' full/server.log '^received 63 messages, all as'
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
