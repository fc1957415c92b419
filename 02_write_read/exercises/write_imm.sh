# write_imm.sh - what the exercise write_imm asks for; sourced by
# scripts/exercise.sh
# shellcheck shell=bash disable=SC2154

# one_side RUN NAME PEER: what each side of a run in the mode write must show.
one_side() {
	well "$1: the $2 ends well" "$1" "$2"
	want "$1, $2: a write with immediate data arrives" "$1/$2.log" \
		'^\[on_completion\] .*status=0 .*opcode=129,'
	want "$1, $2: its only send is MSG_MR" "$1/$2.log" \
		'^\[on_completion\] .*opcode=0,'
	want "$1, $2: its only message is the peer's MSG_MR" "$1/$2.log" \
		'^\[on_completion\] .*opcode=128,'
	want "$1, $2: its own write completes" "$1/$2.log" \
		'^\[on_completion\] .*opcode=1,'
	want "$1, $2: the peer's bytes are in its memory" "$1/$2.log" \
		"^remote buffer: message from $3 side with pid [0-9]+\$"
}

run own 'server: ./server -1 write' 'client: ./client -a 192.0.2.1 write'
one_side own server active/client
one_side own client passive/server
run first 'server: ./server -1 -o first write' \
	'client: ./client -a 192.0.2.1 write'
one_side first server active/client
one_side first client passive/server
run reading 'server: ./server -1 read' 'client: ./client -a 192.0.2.1 read'
for side in server client; do
	well "the mode read ends well for the $side" reading $side
	want "and the $side sends MSG_DONE as before" reading/$side.log \
		'^\[on_completion\] .*opcode=0,' 2
	want "and gets it, and no write" reading/$side.log \
		'^\[on_completion\] .*opcode=12[89],' 2
done
run more 'server: ./server -1 -b 65536 write' \
	'client: ./client -a 192.0.2.1 -b 65536 write'
well 'more memory is written as before' more client
well 'by the server, too' more server
want 'and each byte of it verified' more/client.log '^65536 bytes verified\.$'
# A client whose write with a number is of half of the memory and says so, and one
# whose number says "all". The bytes of all of it come first, by a write without a
# number: who gets them checks them.
peer half client <<'END_PATCH'
--- a/transfer.h
+++ b/transfer.h
@@ -24,3 +24,3 @@
 	/* Room for a send of each message, and a receive of each. */
-	TRANSFER_SENDS = SLOT_RECV,
+	TRANSFER_SENDS = SLOT_RECV + 1,
 	TRANSFER_RECEIVES = SLOT_COUNT - SLOT_RECV
--- a/transfer.c
+++ b/transfer.c
@@ -257,4 +257,4 @@
 		/* Only the write has it. */
-		.imm_data = htobe32(t->local.size),
+		.imm_data = htobe32(t->local.size / 2),
 		.wr.rdma = {
 			.remote_addr = t->peer.addr,
@@ -263,3 +263,9 @@
 	};
 
+	struct ibv_send_wr *bad;
+	wr.opcode = IBV_WR_RDMA_WRITE;
+	if (ibv_post_send(t->conn->id->qp, &wr, &bad))
+		return -1;
+	wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
+	sge.length /= 2;
 	return conn_post(t->conn, &wr);
END_PATCH
peer lies client <<'END_PATCH'
--- a/transfer.h
+++ b/transfer.h
@@ -24,3 +24,3 @@
 	/* Room for a send of each message, and a receive of each. */
-	TRANSFER_SENDS = SLOT_RECV,
+	TRANSFER_SENDS = SLOT_RECV + 1,
 	TRANSFER_RECEIVES = SLOT_COUNT - SLOT_RECV
--- a/transfer.c
+++ b/transfer.c
@@ -263,3 +263,9 @@
 	};
 
+	struct ibv_send_wr *bad;
+	wr.opcode = IBV_WR_RDMA_WRITE;
+	if (ibv_post_send(t->conn->id->qp, &wr, &bad))
+		return -1;
+	wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
+	sge.length /= 2;
 	return conn_post(t->conn, &wr);
END_PATCH
run half 'server: ./server -1 write' \
	"client: $place/peer_half/client -a 192.0.2.1 write"
well 'a server gets on with a client that writes less and says so' half server
well 'and the client with it' half client
run lies 'server: ./server -1 -t 4 write' \
	"client: $place/peer_lies/client -a 192.0.2.1 -t 4 write"
fails 'a length that is not that of the write is an error, said in one line' \
	lies server
