/*
 * data.h - memory regions, posting, and waiting for a completion
 *
 * Everything that moves data is here; everything that connects is in conn.h.
 */
#ifndef DATA_H
#define DATA_H

#include "conn.h"
#include "msg.h"

/* Memory that the device may use, and its registration. */
struct region {
	char *buf;
	size_t size;
	struct ibv_mr *mr;
};

/* Where each message is in the region of messages. */
enum slot {
	SLOT_SEND_DONE,
	SLOT_RECV,
	SLOT_COUNT = 2
};

/* Room for sends. One is posted at a time; the other slot is spare. */
#define DATA_SENDS 2

/* How many receives to post before the connection: one for each message. */
#define DATA_RECEIVES (SLOT_COUNT - SLOT_RECV)

/* The memory of one connection. Zero it before data_open(). */
struct data {
	struct conn *conn; /* borrowed */
	struct region messages; /* SLOT_COUNT messages, for send and receive */
	struct region local; /* what our writes send, and our reads fill */
	struct region exposed; /* what the peer may write to or read from */
};

/*
 * What the peer must be allowed to do to the region that is exposed to it in
 * mode (IBV_ACCESS_REMOTE_…), and so to the queue pair.
 */
int data_exposed_access(enum mode mode);

/*
 * Allocates and registers the messages and, for mode, the other regions of size
 * bytes each, with the least access that mode needs. Returns 0, or -1 after
 * reporting why. Either way, end with data_close(), before conn_close(). Puts
 * the mode and the exposed region into conn->mine, to be sent to the peer.
 */
int data_open(struct data *data, struct conn *conn, enum mode mode,
	      size_t size);

/*
 * Puts the queue pair in the error state and takes completions until every
 * posted request has completed: only then is its memory ours again. Call it
 * before the memory is freed, in any state. Returns 0, or -1 after reporting
 * why.
 */
int data_drain(struct data *data);

/* Deregisters the memory and frees it. */
void data_close(struct data *data);

/* The bytes of one message, and its request. */
void *data_message(const struct data *data, int slot);

/*
 * Posts a receive for each message that the peer will send. A receive must be
 * there before its message, so post all of them before the connection is made.
 * Returns 0, or -1 after reporting why.
 */
int data_post_receives(struct data *data);

/*
 * Encodes msg into slot, which must not be touched until the completion comes,
 * and posts the send. Returns 0, or -1 after reporting why.
 */
int data_post_send(struct data *data, enum slot slot, const struct msg *msg);

/*
 * Posts one RDMA operation (IBV_WR_RDMA_WRITE or IBV_WR_RDMA_READ) between all
 * of data->local and the peer's memory. Returns 0, or -1 after reporting why.
 */
int data_post_rdma(struct data *data, enum ibv_wr_opcode opcode,
		   const struct remote *peer);

/*
 * Waits for the next completion, which may be a failure: look at its status
 * first. Returns 0 and the completion in *wc; or -1 after reporting that we
 * waited for what, and why no completion came, or that it belongs to nothing
 * that we posted.
 */
int data_wait(struct data *data, struct ibv_wc *wc, const char *what);

#endif
