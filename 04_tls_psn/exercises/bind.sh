# bind.sh - what the exercise bind asks for; sourced by scripts/exercise.sh
# shellcheck shell=bash disable=SC2154

# Both builds trust one CA, so that certificates are not what fails.
rm -rf "$original/certs"
cp -r "$place/mine/certs" "$original"
run own 'server: ./server -1 write' 'client: ./client -a 192.0.2.1 write'
ends 'the client ends well' own client 0
ends 'the server ends well' own server 0
want 'the echo came back' own/client.log '^echo: ' 1
run old 'server: ./server -1 -t 4 write' \
	'client: ORIGINAL/client -a 192.0.2.1 -t 4 write'
ends 'a server refuses a number that anybody could have drawn' old server 1
want 'and says why, in one line' old/server.err '^error: ' 1
ends 'and the client comes to nothing' old client 1
want 'it has got no echo' old/client.log '^echo: ' 0
run new 'server: ORIGINAL/server -1 -t 4 write' \
	'client: ./client -a 192.0.2.1 -t 4 write'
ends 'a client refuses such a number, too' new client 1
want 'and says why, in one line' new/client.err '^error: ' 1
# A mirror: a client that draws no number, and sends the server its own back.
cp -a "$original" "$place/reflects"
patch -s -d "$place/reflects" -p1 <<'END'
--- a/probe.c
+++ b/probe.c
@@ -37,2 +37,5 @@
-	if (msg.type == MSG_NONCE && !probe->answered)
-		return send_echo(probe, msg.nonce);
+	if (msg.type == MSG_NONCE && !probe->answered) {
+		probe->nonce = msg.nonce;
+		return data_post_send(probe->data, SLOT_SEND_NONCE, &msg) ||
+		       send_echo(probe, msg.nonce);
+	}
@@ -87,2 +89,0 @@
-	if (data_post_send(data, SLOT_SEND_NONCE, &msg))
-		return -1;
END
make -s -C "$place/reflects" CFLAGS="-O1 -w" client
run mirror 'server: ./server -1 -t 4 write' \
	"client: $place/reflects/client -a 192.0.2.1 -t 4 write"
ends 'a server refuses its own number, from a mirror' mirror server 1
want 'and says why, in one line' mirror/server.err '^error: ' 1
want 'the mirror has got no echo' mirror/client.log '^echo: ' 0
