# three.sh - what the exercise three asks for; sourced by scripts/exercise.sh
# shellcheck shell=bash disable=SC2154

run own "server: $(witness own/server.calls "$(serving ./server)")" \
	"client: $(witness own/client.calls ./client -a 192.0.2.1 -s again)" \
	'client2: ./client -a 192.0.2.1 -s once_more' "stop: $stopping"
well 'the first client ends well' own client
well 'the next one does, too' own client2
well 'the server ends well' own server
want 'the client sends three messages' own/client.log \
	'^send completed successfully\.$' 3
want 'the client receives one' own/client.log \
	'^received message: message from passive/server side with pid [0-9]+$'
want 'the server receives three from the first client' own/server.log \
	'^received message: again$' 3
want 'and three from the second' own/server.log \
	'^received message: once_more$' 3
want 'the server sends one to each of two clients' own/server.log \
	'^send completed successfully\.$' 2
want 'each receive and each send is a success' own/server.log \
	'^wc->status = 0 ' 8
want_order 'the client posts three sends before it takes a completion' \
	own/client.calls 'post_send' 'post_send' 'post_send' 'completion' \
	'completion' 'completion' 'completion'
want 'its send queue is asked to have room for them' own/client.calls \
	'^create_qp sends=([3-9]|[1-9][0-9]+) '
want_order 'the server posts three receives before it accepts, and no other' \
	own/server.calls '^post_recv' '^post_recv' '^post_recv' '^accept' \
	'^post_recv' '^post_recv' '^post_recv' '^accept'
want 'its receive queue is asked to have room for them' own/server.calls \
	'receives=([3-9]|[1-9][0-9]+)$' 2
want 'rnr_retry_count is 0 at the server' own/server.calls \
	'^accept rnr_retry_count=0$' 2
want 'and at the client' own/client.calls '^connect rnr_retry_count=0$'
# A client that sends three texts; the server looks when all of them are there.
peer texts client <<'END_PATCH'
--- a/client.c
+++ b/client.c
@@ -73,5 +73,8 @@
 	/* All from one buffer: the device only reads it. */
-	for (int i = 0; i < MESSAGES; i++)
+	for (int i = 0; i < MESSAGES; i++, message->send.buf += 32) {
+		length = snprintf(message->send.buf, 32, "text %d", i);
 		if (message_post_send(message, length))
 			return -1;
+	}
+	message->send.buf -= MESSAGES * 32;
 	while (message->sent < MESSAGES || !message->received)
--- a/message.c
+++ b/message.c
@@ -55,3 +55,3 @@
 		return -1;
-	receive = wc.wr_id != (uintptr_t)message->send.buf;
+	receive = wc.wr_id == (uintptr_t)message->recv.buf;
 	log_line("wc->status = %d (%s)", wc.status,
END_PATCH
run texts "server: env CALLS_HOLD=$place/texts/go $(
	witness texts/server.calls ./server -1)" \
	"client&: $place/peer_texts/client -a 192.0.2.1" \
	"look: $(look texts/client.log 'send completed' 20 3)" \
	"go: touch $place/texts/go"
well 'three messages may wait until the server looks' texts server
want_order 'it then prints each of them, in order' texts/server.log \
	'^received message: text 0$' '^received message: text 1$' \
	'^received message: text 2$'
run old 'server: ./server -1 -t 3' 'client: ORIGINAL/client -a 192.0.2.1 -t 3'
fails 'a client that sends one message only is an error of the server' \
	old server
