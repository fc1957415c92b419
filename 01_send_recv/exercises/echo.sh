# echo.sh - what the exercise echo asks for; sourced by scripts/exercise.sh
# shellcheck shell=bash disable=SC2154

run own 'server: ./first' 'client: ./client -a 192.0.2.1 -s "back, please"'
well 'a client is served' own client
ends 'the server ends well' own server 0
want 'the server prints what it received' own/server.log \
	'^received message: back, please$'
want 'and the client gets it back' own/client.log '^received message: back, please$'
run first 'server: ./first' 'client: ./first 192.0.2.1'
ends 'first ends well as a client' first client 0
want 'it still sends a message of its own, and gets that back' first/client.log \
	'^received message: message from active/client side with pid [0-9]+$'
run nothing 'server: ./first' "client: ./client -a 192.0.2.1 -s ''"
well 'a client that sends no bytes is served' nothing client
want 'and gets no bytes back' nothing/client.log '^received message: $'
# A client that sends each byte that there is, and says whether they came back.
peer bytes client <<'END_PATCH'
--- a/client.c
+++ b/client.c
@@ -60,6 +60,7 @@
 				getpid());
 	/* check_options() says how long it may be. */
-	length = strlen(options.text);
-	memcpy(message->send.buf, options.text, length);
+	length = 256 + 0 * strlen(options.text);
+	for (size_t i = 0; i < length; i++)
+		((char *)message->send.buf)[i] = (char)i;
 	return length;
 }
@@ -74,4 +75,6 @@
 		if (message_wait(message))
 			return -1;
+	if (memcmp(message->recv.buf, message->send.buf, MESSAGE_SIZE))
+		return log_fail("other bytes came back");
 	return 0;
 }
END_PATCH
run bytes 'server: ./first' "client: $place/peer_bytes/client -a 192.0.2.1 -s all"
well 'bytes that are no text come back as they were' bytes client
want 'the server prints them so that they harm no terminal' bytes/server.log \
	'^received message: \?{32} !"#.*~\?{129}$'
