# bind.sh - what the exercise bind asks for; sourced by scripts/exercise.sh
# shellcheck shell=bash disable=SC2154

# Both builds trust one CA, so that certificates are not what fails.
rm -rf "$original/certs"
cp -r "$place/mine/certs" "$original"
for i in own again; do
	run $i "server: $(witness $i/server.calls ./server -1 -P 0x123456 write)" \
		"client: $(witness $i/client.calls \
			./client -a 192.0.2.1 -P 0x654321 write)"
done
well 'the client ends well' own client
well 'the server ends well' own server
want 'the echo came back' own/client.log '^echo: '
want 'to the server, too' own/server.log '^echo: '
# The first send of each side is its number.
for side in client server; do
	mapfile -t numbers < <(grep -hm 1 '^post_send opcode=2 ' \
		"$place"/{own,again}/$side.calls)
	check "the number of the $side is another for each connection" own \
		"twice ${numbers[0]:-nothing}" \
		test "${numbers[0]:-}" != "${numbers[1]:-}"
done
run old "server: $(witness old/server.calls ./server -1 -t 4 write)" \
	'client: ORIGINAL/client -a 192.0.2.1 -t 4 write'
fails 'a server refuses a number that anybody could have drawn' old server
want 'and has sent nothing but its own' old/server.calls '^post_send '
ends 'and the client comes to nothing' old client 1
want 'it has got no echo' old/client.log '^echo: ' 0
run new 'server: ORIGINAL/server -1 -t 4 write' \
	'client: ./client -a 192.0.2.1 -t 4 write'
fails 'a client refuses such a number, too' new client
ends 'and the server comes to nothing' new server 1
want 'it has got no echo, either' new/server.log '^echo: ' 0
# A mirror: a client that draws no number, and sends the server its own back.
cp -a "$original" "$place/reflects"
patch -s -d "$place/reflects" -p1 <<'END_PATCH'
--- a/probe.c
+++ b/probe.c
@@ -34,2 +34,5 @@
-	if (msg.type == MSG_NONCE && !probe->answered)
-		return send_echo(probe, msg.nonce);
+	if (msg.type == MSG_NONCE && !probe->answered) {
+		probe->nonce = msg.nonce;
+		return data_post_send(probe->data, SLOT_SEND_NONCE, &msg) ||
+		       send_echo(probe, msg.nonce);
+	}
@@ -88,2 +90,0 @@
-	if (data_post_send(data, SLOT_SEND_NONCE, &msg))
-		return -1;
END_PATCH
make -s -C "$place/reflects" CFLAGS="-O1 -w" client
run mirror 'server: ./server -1 -t 4 write' \
	"client: $place/reflects/client -a 192.0.2.1 -t 4 write"
fails 'a server refuses its own number, from a mirror' mirror server
want 'the mirror has got no echo' mirror/client.log '^echo: ' 0
