# seal.sh - what the exercise seal asks for; sourced by scripts/exercise.sh
# shellcheck shell=bash disable=SC2154

# Both builds, and the peers below, trust one CA.
rm -rf "$original/certs"
cp -r "$place/mine/certs" "$original"

for mode in write read; do
	run $mode "server: ./server -1 $mode" "client: ./client -a 192.0.2.1 $mode"
	well "the client ends well ($mode)" $mode client
	well "the server ends well ($mode)" $mode server
	want "the client has the server's message ($mode)" $mode/client.log \
		'^remote buffer: message from passive/server side with pid [0-9]+$'
	want "the server has the client's message ($mode)" $mode/server.log \
		'^remote buffer: message from active/client side with pid [0-9]+$'
done

# Those of another program, which covers everything with the keys that are agreed.
peer same client </dev/null
run same 'server: ./server -1 -b 5000 write' \
	"client: $place/peer_same/client -a 192.0.2.1 -b 5000 write"
well "another program's seal is believed" same server
well 'and that program believes in ours' same client

# The chapter's own programs send no seal.
run old 'server: ./server -1 -t 4 write' \
	'client: ORIGINAL/client -a 192.0.2.1 -t 4 write'
fails 'a server refuses a MSG_DONE without a seal' old server
run new 'server: ORIGINAL/server -1 -t 4 write' \
	'client: ./client -a 192.0.2.1 -t 4 write'
fails 'a client refuses it, too' new client

# What is in the memory is not what the peer has sealed: as if somebody else had
# written to it since.
peer other client <<'END_PATCH'
--- a/carried/transfer.c
+++ b/carried/transfer.c
@@ -148,2 +148,3 @@
 	*slot(t, SLOT_SEND_DONE) = done;
+	((char *)sent->buf)[sent->size - 1] ^= 1;
 	if (oob_seal(&t->conn->oob, true, sent->buf, sent->size,
END_PATCH
run other 'server: ./server -1 -t 4 write' \
	"client: $place/peer_other/client -a 192.0.2.1 -t 4 write"
fails 'a server notices that one byte is another, the last' other server
want 'and does not use the memory' other/server.log '^remote buffer' 0
run others 'server: ./server -1 -t 4 read' \
	"client: $place/peer_other/client -a 192.0.2.1 -t 4 read"
fails 'and so it does of what it has read' others server
# One that goes on writing, behind its MSG_DONE.
peer late client <<'END_PATCH'
--- a/carried/transfer.c
+++ b/carried/transfer.c
@@ -324,5 +324,14 @@
 		if (conn_wait(t->conn, &wc) || on_completion(t, &wc))
 			return -1;
 	}
+	t->conn->awaits = "late";
+	for (int i = 0; i < 3000; i++) {
+		if (post_rdma(t) || conn_wait(t->conn, &wc))
+			return -1;
+		if (wc.status) {
+			log_line("no more: status %d", wc.status);
+			return -1;
+		}
+	}
 	return check_seal(t);
 }
END_PATCH
run late 'server: ./server -1 -t 10 write' \
	"client: $place/peer_late/client -a 192.0.2.1 -t 10 write"
want 'the memory is withdrawn when the peer is done' late/client.log \
	'^no more: status 10$'
want 'and what the server uses is what it has checked' late/server.log \
	'^remote buffer: message from active/client side'
