/*
 * verbs.h - memory, requests and their completions
 *
 * This is what libibverbs does, however the queue pair was connected: that is in
 * rdma.h. Functions return 0, or -1 after reporting why, unless it says otherwise.
 */
#ifndef VERBS_H
#define VERBS_H

#include <stddef.h>
#include <stdint.h>

#include <infiniband/verbs.h>

struct conn;

/* Memory that the device may use, and its registration. Zero it first. */
struct region {
	void *buf;
	size_t size;
	struct ibv_mr *mr;
};

/*
 * Creates the protection domain, and the completion queue, with room for so many
 * completions at a time, on that device.
 */
int conn_create_cq(struct conn *conn, struct ibv_context *verbs, int entries);

/* Allocates size bytes; access is what the device may do beyond reading them. */
int region_open(struct region *region, struct conn *conn, size_t size,
		int access);

/* Frees it; or reports why that fails, and leaves it as it is. */
void region_close(struct region *region);

/*
 * Posts a receive: the next message will be written to these bytes of region,
 * which are the device's until the completion comes. Its wr_id will be buf.
 */
int conn_post_recv(struct conn *conn, const struct region *region, void *buf,
		   uint32_t length);

/*
 * Posts wr, a send, write or read. Its memory is the device's until the
 * completion comes, and a completion will come in any case.
 */
int conn_post(struct conn *conn, struct ibv_send_wr *wr);

/*
 * Waits for the next completion, which may be a failure: look at its status.
 * If the peer leaves, all that is still posted comes back flushed.
 */
int conn_wait(struct conn *conn, struct ibv_wc *wc);

/* To the error state: all that is posted comes back, most of it flushed. */
int conn_to_err(struct conn *conn);

/* The same, and waits for all of it. Returns how many requests were flushed. */
int conn_flush(struct conn *conn);

/* Destroys what conn_create_cq() has made, after the queue pair. */
int conn_destroy_cq(struct conn *conn);

#endif
