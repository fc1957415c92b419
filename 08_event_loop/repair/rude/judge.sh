# judge.sh - what a repair of rude must do; sourced by scripts/repair.sh
# shellcheck shell=bash disable=SC2154

# With `sum`, a client that goes when its first message is there; with `write`, one that
# begins with MSG_DONE, and waits until it is sent away.
other_peer early client <<'END_PATCH'
--- a/client.c
+++ b/client.c
@@ -21,3 +21,12 @@
 	struct transfer transfer = { .data = data, .mode = MODE_WRITE };
+	struct msg done = { .type = MSG_DONE };
+	struct ibv_wc wc;
 
+	if (options->writes ? data_post_send(data, SLOT_SEND_DONE, &done) :
+			      transfer_event(&transfer, EV_START))
+		return -1;
+	while (!data_wait(data, &wc) && !wc.status && options->writes)
+		;
+	if (options->bytes)
+		return -1;
 	if (transfer_run(&transfer, true))
END_PATCH
early="$place/peer_early/client -a 192.0.2.1 -t 5"
watched guests "server: $(serving ./server)" "sent_away1: $early write" \
	"goes1: $early sum" "sent_away2: $early write" "goes2: $early sum" \
	"goes3: $early sum" 'client: ./client -a 192.0.2.1 -N 3 write' "stop: $stopping"
well 'who comes after them is served' guests client
want 'a client that breaks the rules is sent away' guests/server.err \
	'^error: Client [13]: protocol error' 2
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
