# judge.sh - what a repair of polite must do; sourced by scripts/repair.sh
# shellcheck shell=bash disable=SC2154

recorded write
# The client stays for a second, and ends the connection then.
run stays 'server: ./server -1 write' 'client: ./load/load -w 1 -a 192.0.2.1 write'
well 'a client that stays is not sent away' stays client
well 'and the server waits for it' stays server
# Each end is killed when all has arrived.
other_peer dies server <<'END_PATCH'
--- a/server.c
+++ b/server.c
@@ -37,2 +37,3 @@
 		return -1;
+	__builtin_trap();
 	log_line("[LOG] %s: Both DONE, waiting for the client to disconnect",
END_PATCH
run dies "server: $place/peer_dies/server -1 write" 'client: ./client -a 192.0.2.1 write'
fails 'the client says so if the server is killed at the end' dies client 'without a goodbye'
other_peer leaves client <<'END_PATCH'
--- a/client.c
+++ b/client.c
@@ -26,2 +26,3 @@
 		return -1;
+	__builtin_trap();
 	log_line("[LOG] %s: Both DONE, disconnecting",
END_PATCH
run leaves 'server: ./server -1 write' "client: $place/peer_leaves/client -a 192.0.2.1 write"
fails 'and the server says so if the client is' leaves server 'without a goodbye'
