# address.sh - what the runs do not show of check_address(); see scripts/exercise.sh
# shellcheck shell=bash disable=SC2154

# A client that says that its queue pair is somewhere else.
other_peer elsewhere client <<'END_PATCH'
--- a/carried/conn.c
+++ b/carried/conn.c
@@ -147,4 +147,5 @@
 int conn_connect(struct conn *conn)
 {
+	conn->mine.gid.raw[15] ^= 0x40;
 	if (oob_send_params(conn->oob, &conn->mine) ||
 	    oob_recv_params(conn->oob, &conn->peer,
END_PATCH
run elsewhere 'server: ./server -1 write' \
	"client: $place/peer_elsewhere/client -a 192.0.2.1 write"
fails 'a queue pair that is somewhere else is refused' elsewhere server
