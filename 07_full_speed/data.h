/*
 * data.h - memory regions, posting, and waiting for a completion
 *
 * Everything that moves data is here; everything that connects is in conn.h.
 */
#ifndef DATA_H
#define DATA_H

#include "conn.h"
#include "msg.h"
#include "wr_id.h"

/* Memory that the device may use, and its registration. */
struct region {
	char *buf;
	size_t size;
	struct ibv_mr *mr;
};

/*
 * Allocates size bytes for region, zeroed, and registers them with access: what
 * the device may do beyond reading. Returns 0, or -1 after reporting why.
 * Either way, end with region_close().
 */
int region_open(struct region *region, struct ibv_pd *pd, size_t size,
		int access);
void region_close(struct region *region);

/* Where each message is in the region of messages. */
enum slot {
	SLOT_SEND_FIRST,
	SLOT_SEND_DONE,
	SLOT_RECV,
	SLOT_COUNT = 4
};

/* How many receives to post before the connection: one for each message. */
#define DATA_RECEIVES (SLOT_COUNT - SLOT_RECV)

/* The memory of one connection. Zero it before data_open(). */
struct data {
	struct conn *conn; /* borrowed */
	struct region messages; /* SLOT_COUNT messages, for send and receive */
	struct region local; /* what our writes send, and our reads fill */
	struct region exposed; /* what the peer may write to or read from */
	unsigned int looks; /* at the CQ, since the beginning */
};

/*
 * Allocates and registers the messages, and size bytes for what a benchmark
 * writes and reads, if size is not 0. Returns 0, or -1 after reporting why.
 * Either way, end with data_close(), before conn_close().
 */
int data_open(struct data *data, struct conn *conn, size_t size);

/* Exposes size fresh bytes for a benchmark in place of what was exposed. */
int data_lend(struct data *data, size_t size);

/*
 * Ends all requests that are still posted, so that the device is done with the
 * memory; then deregisters the memory and frees it.
 */
void data_close(struct data *data);

/* The bytes of one message, and its request. */
void *data_message(const struct data *data, int slot);

/* What the request with wr_id was, in words. */
const char *data_request_name(uint64_t wr_id);

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
 * Waits for the next completion, which may be a failure: look at its status
 * first. Returns 0 and the completion in *wc, or -1 after reporting why none
 * came, or that it belongs to nothing that we posted.
 */
int data_wait(struct data *data, struct ibv_wc *wc);

/* The same, whatever the completion is for. */
int data_next(struct data *data, struct ibv_wc *wc);

/*
 * The same without waiting, and without a look at the peer: 1 and the completion,
 * 0 if there is none, or -1 after reporting why, or that the program is to
 * stop.
 */
int data_poll(struct data *data, struct ibv_wc *wc);

/*
 * The same without waiting: 1 and the completion in *wc, 0 if there is none, or -1
 * after reporting why there will be none, or that the program is to stop.
 */
int data_look(struct data *data, struct ibv_wc *wc);

#endif
