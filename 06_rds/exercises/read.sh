# read.sh - what the exercise read asks for; sourced by scripts/exercise.sh
# shellcheck shell=bash disable=SC2154

# A server whose text is as long as its memory.
peer long server <<'END_PATCH'
--- a/lend.c
+++ b/lend.c
@@ -107,4 +107,4 @@
 	memset(lend->memory, 0, sysconf(_SC_PAGESIZE));
-	snprintf(lend->memory, LEND_SIZE,
-		 "message from passive/server side with pid %d", getpid());
+	memset(lend->memory, '.', LEND_SIZE - 4);
+	memcpy(lend->memory + LEND_SIZE - 4, "end", 4);
 	lend->to = *to;
END_PATCH
run own 'nodes: 2' 'setup: scripts/setup_rds.sh ib' \
	"server: $(serving ./server -1 -a 192.0.2.1 --transport ib)" \
	'client: ./client -a 192.0.2.1 --transport ib read'
well 'the client ends well' own client
well 'the server ends well' own server
want 'the client prints the text of the server' own/client.log \
	"message from passive/server side with pid $(<"$place/mine/server.pid")\$"
want 'the server has lent its memory' own/server.log '^lending 1024 bytes\.$'
run long 'nodes: 2' 'setup: scripts/setup_rds.sh ib' \
	"server: $place/peer_long/server -1 -a 192.0.2.1 --transport ib" \
	'client: ./client -a 192.0.2.1 --transport ib read'
want 'it reads all of the 1024 bytes' long/client.log '\.{1020}end$'
run write 'nodes: 2' 'setup: scripts/setup_rds.sh ib' \
	'server: ./server -1 -a 192.0.2.1 --transport ib' \
	'client: ./client -a 192.0.2.1 --transport ib write'
well 'the work write does what it did' write client
want 'and the server has the text' write/server.log \
	'written from active/client side with pid [0-9]+'
run tcp 'nodes: 2' 'setup: scripts/setup_rds.sh tcp' \
	"server: $(serving ./server -a 192.0.2.1 --transport tcp -t 4)" \
	'client: ./client -a 192.0.2.1 --transport tcp -t 4 read' \
	"server-stop: $stopping"
ends 'over tcp, which has no RDMA, it fails' tcp client 1
want 'and prints no text' tcp/client.log 'message from passive' 0
