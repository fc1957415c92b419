# address.sh - what the runs do not show of check_address(); see scripts/exercise.sh
# shellcheck shell=bash disable=SC2154

# A client that says that its queue pair is somewhere else; the addresses differ in their
# last byte, or in their first one.
for byte in 15 0; do
	other_peer "elsewhere$byte" client <<END_PATCH
--- a/carried/rdma.c
+++ b/carried/rdma.c
@@ -224,4 +224,5 @@
 int conn_connect(struct conn *conn)
 {
+	conn->mine.gid.raw[$byte] ^= 0x40;
 	if (oob_send_params(&conn->oob, &conn->mine))
 		return -1;
END_PATCH
	run "elsewhere$byte" 'server: ./server -1 write' \
		"client: $place/peer_elsewhere$byte/client -a 192.0.2.1 write"
	fails "a queue pair that is somewhere else is refused (byte $byte differs)" \
		"elsewhere$byte" server
	want 'before anything is made for it' "elsewhere$byte/server.log" '^RESET -> INIT' 0
done
