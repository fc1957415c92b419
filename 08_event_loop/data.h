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
	SLOT_SEND_FIRST,
	SLOT_SEND_DONE,
	SLOT_RECV,
	SLOT_COUNT = 4
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
 * Allocates and registers size bytes; access is what the device may do to them
 * beyond reading. Returns 0, or -1 after reporting why.
 */
int region_open(struct region *region, struct ibv_pd *pd, size_t size,
		int access);
void region_close(struct region *region);

/*
 * Allocates and registers the messages and, for mode, the other regions of
 * size bytes each, with the least access that mode needs. Returns 0, or -1
 * after reporting why. Either way, end with data_close(), before conn_close().
 */
int data_open(struct data *data, struct conn *conn, enum mode mode,
	      size_t size);

/*
 * Ends all requests that are still posted, so that the device is done with the
 * memory; then deregisters the memory and frees it.
 */
void data_close(struct data *data);

/* The bytes of one message, and its request. */
void *data_message(const struct data *data, int slot);

/*
 * Posts a receive for each message that the peer will send. A receive must be
 * there before its message, so post all of them before the connection is made.
 * Returns 0, or -1 after reporting why.
 */
int data_post_receives(struct data *data);
int data_post_receive(struct data *data, int slot);

/*
 * Encodes msg into slot, which must not be touched until the completion comes,
 * and posts the send. Returns 0, or -1 after reporting why.
 */
int data_post_send(struct data *data, enum slot slot, const struct msg *msg);

/* Posts any request, with a completion. Returns 0, or -1 after reporting why. */
int data_post(struct data *data, struct ibv_send_wr *wr);

/*
 * Posts one RDMA operation (IBV_WR_RDMA_WRITE or IBV_WR_RDMA_READ) between all
 * of data->local and the peer's memory. Returns 0, or -1 after reporting why.
 */
int data_post_rdma(struct data *data, enum ibv_wr_opcode opcode,
		   const struct remote *peer);

/*
 * Waits for the next completion, which may be a failure: look at its status
 * first. Returns 0 and the completion in *wc, or -1 after reporting why none
 * came, or that it belongs to nothing that we posted.
 */
int data_wait(struct data *data, struct ibv_wc *wc);

#endif
