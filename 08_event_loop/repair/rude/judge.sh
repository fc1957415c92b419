# judge.sh - what a repair of rude must do; sourced by scripts/repair.sh
# shellcheck shell=bash disable=SC2154

# With `sum`, a client that goes when all that the server sends is there, and nothing of the
# server's can fail; with `write`, one that begins with MSG_DONE, which is not legal, and then
# answers nothing: when it is sent away, the server does not hear that it goes.
other_peer early client <<'END_PATCH'
--- a/client.c
+++ b/client.c
@@ -21,3 +21,14 @@
 	struct transfer transfer = { .data = data, .mode = MODE_WRITE };
+	struct msg done = { .type = MSG_DONE };
+	struct ibv_wc wc;
 
+	if (options->writes ? data_post_send(data, SLOT_SEND_DONE, &done) :
+			      transfer_event(&transfer, EV_START))
+		return -1;
+	if (options->writes)
+		pause();
+	for (int due = 2; due && !data_wait(data, &wc) && !wc.status;)
+		due -= (wc.opcode & IBV_WC_RECV) != 0;
+	if (options->bytes)
+		return -1;
 	if (transfer_run(&transfer, true))
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
