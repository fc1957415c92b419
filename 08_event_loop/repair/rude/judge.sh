# judge.sh - what a repair of rude must do; sourced by scripts/repair.sh
# shellcheck shell=bash disable=SC2154

# With `sum`, a client that goes when all that the server sends is there, and nothing of the
# server's can fail; with `write`, one that sends what only a server may, and then answers
# nothing: when it is sent away, the server does not hear that it goes.
other_peer early client <<'END_PATCH'
--- a/client.c
+++ b/client.c
@@ -8,4 +8,5 @@
 #include <endian.h>
 #include <string.h>
+#include <unistd.h>
 
 #include "addr.h"
@@ -141,5 +142,20 @@
 {
 	struct request *request = &((struct asking *)region->buf)->request;
-
+	struct ibv_sge sge = { (uintptr_t)request, sizeof(request->msg),
+			       region->mr->lkey };
+	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1 };
+	struct ibv_wc wc;
+
+	wr.opcode = IBV_WR_SEND;
+	request->msg = msg_make(MSG_ANSWER, 0, 0, 0, 0);
+	if (transfer_start(transfer) ||
+	    (options.writes && conn_post(transfer->conn, &wr)))
+		return -1;
+	if (options.writes)
+		pause();
+	for (int due = 2; due && !conn_wait(transfer->conn, &wc) && !wc.status;)
+		due -= (wc.opcode & IBV_WC_RECV) != 0;
+	if (options.cycles)
+		return -1;
 	if (transfer_start(transfer) || transfer_run(transfer))
 		return -1;
END_PATCH
early="$place/peer_early/client -a 192.0.2.1 -t 5"
# away NUMBER: a client that is sent away, and killed when the server has closed it.
away() {
	printf '%s\n' "sent_away$1&: bash -c 'echo \$\$ >away$1.pid; exec $early write'" \
		"freed$1: $(look guests/server.log "^Client $1: .*closing connection" 20)" \
		"killed$1: bash -c 'kill -KILL \$(<away$1.pid)'"
}
mapfile -t guests < <(
	away 1
	away 2
	printf "goes%d: $early sum\n" 1 2 3
)
watched guests "server: $(serving ./server -v)" "${guests[@]}" \
	'client: ./client -a 192.0.2.1 -N 3 write' "stop: $stopping"
well 'who comes after them is served' guests client
want 'a client that breaks the rules is sent away' guests/server.err \
	'^error: Client [12]: protocol error' 2
# calls REGEX: how many such calls the server has made.
calls() {
	count guests/server.calls "$1"
}
lent=$(calls '^reg_mr ') back=$(calls '^dereg_mr 0')
check 'the memory that was lent is taken back from everybody' guests \
	"$lent regions were registered, and $back deregistered" test "$back" = "$lent"
# 256 are posted at first, and each that has brought something is posted again.
brought=$(calls '^completion status=0 opcode=128') posted=$(calls '^post_srq_recv')
check 'each receive that has brought a message is posted again' guests \
	"$brought have brought one; after the first 256, $((posted - 256)) were posted" \
	test "$((posted - 256))" -eq "$brought"
want 'and the server can take everything apart' guests/server.calls \
	'^dealloc_pd [^0]' 0
ends 'and ends well' guests server 0
[[ $bad -eq 0 ]] || verdict
recorded default crowd
