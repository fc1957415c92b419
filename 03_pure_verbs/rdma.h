/*
 * rdma.h - from an address to a connected queue pair, and back; what goes over it
 *
 * rdma.c does the first, by an exchange (oob.h) and by qp.c, and verbs.c the second,
 * however the queue pair was connected. Functions return 0, or -1 after reporting why,
 * unless it says otherwise.
 */
#ifndef RDMA_H
#define RDMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <infiniband/verbs.h>

#include "device.h"
#include "oob.h"
#include "wait.h"

/* Memory that the device may use, and its registration. Zero it first. */
struct region {
	void *buf;
	size_t size;
	struct ibv_mr *mr;
};

/* No machine has more active ports than this. */
#define CONN_DEVICES 16

/* A connection to one peer, or what a server listens on. */
struct conn {
	struct patience patience; /* set these two, and zero the rest */
	const struct network *network; /* borrowed */
	struct oob oob; /* where the two sides talk before, and say goodbye */
	struct device devices[CONN_DEVICES]; /* a listener's; a client has one */
	const struct device *device; /* the one in use; maybe a listener's */
	int gid_index; /* of our own GID in the port's table */
	bool needs_grh; /* the way to the peer needs a global route header */
	struct params mine; /* what the peer must know about us */
	struct params peer; /* what we know about the peer */
	struct ibv_pd *pd;
	struct ibv_comp_channel *comp; /* says that the CQ has completions */
	struct ibv_cq *cq; /* send and receive completions */
	struct ibv_qp *qp;
	unsigned int pending; /* posted requests that have yet to complete */
	bool armed; /* the CQ tells comp of its next completion */
	bool ending; /* all that is posted is being taken back */
	const char *awaits; /* what conn_wait() waits for; NULL: any */
};

/*
 * Server: listens, and opens the devices by which clients may come. The listener
 * needs patience as a connection does, and ends with conn_close().
 */
int conn_listen(struct conn *listener, const struct oob_way *way);

/*
 * Server: waits, without a deadline, for the next client. Returns 1 and the
 * exchange with it in *client, for conn_take(); 0 if the program was asked to stop;
 * or -1 if no client can come any more, such as without the device.
 */
int conn_next(struct conn *listener, struct oob *client);

/* Server: makes conn of that client, which is conn's from now on, and says hello. */
int conn_take(struct conn *conn, const struct oob *client);

/* Server: finds the device, one of listener's, and receives the client's parameters. */
int conn_request(struct conn *conn, const struct conn *listener);

/* Client: reaches the server, and hears its hello. */
int conn_resolve(struct conn *conn, const struct oob_way *way);

/*
 * Finds the device by which we reach the peer, and our GID there. The device is one
 * that sharer has open; if sharer is NULL, it is opened for conn alone.
 */
int conn_find_device(struct conn *conn, const struct conn *sharer);

/*
 * Creates the queue pair and what it needs, on the device that was found,
 * with room for that many sends (and writes and reads) and receives at a time.
 * Takes it to INIT, where the peer gets at most that access.
 */
int conn_create_qp(struct conn *conn, unsigned int sends, unsigned int receives,
		   unsigned int access);

/*
 * Server: accepts the request; client: connects. Post the receives first. When
 * they return 0, we may send.
 */
int conn_accept(struct conn *conn);
int conn_connect(struct conn *conn);

/*
 * For conn_wait(): the descriptor that is readable when there is news of the peer, or
 * -1; and takes the news, if there is any. If the peer leaves, all that is still posted
 * comes back flushed.
 */
int conn_fd(const struct conn *conn);
int conn_news(struct conn *conn);

/* Client: disconnects, and waits until the peer has; server: waits for that. */
int conn_disconnect(struct conn *conn);
int conn_wait_disconnect(struct conn *conn);

/*
 * However the connection has fared: tells the peer that it is over, and gets
 * all posted requests back, so that their memory may be freed.
 */
void conn_end(struct conn *conn);

/* Frees everything that was made so far. Close the regions first. */
int conn_close(struct conn *conn);

/* ---- verbs.c: memory, requests and their completions ---- */

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

/* Moves the queue pair to ERR: all that is posted comes back, most of it flushed. */
int conn_to_err(struct conn *conn);

/*
 * The same, and waits for all of it, whatever comes. Returns how many requests were
 * flushed. If some do not come back, says why, and conn->pending is how many.
 */
int conn_flush(struct conn *conn);

/* Destroys what conn_create_cq() has made, after the queue pair. */
int conn_destroy_cq(struct conn *conn);

/* ---- qp.c: the states of a queue pair; for their attributes see ibv_modify_qp(3) ---- */

/* Finds out our GID, LID and MTU, on the port of conn->device. */
int qp_find_source(struct conn *conn);

/* RESET to INIT, bound to a port: from now on, receives can be posted. */
int qp_to_init(struct conn *conn, unsigned int access);

/* INIT to RTR, ready to receive: tells it where conn->peer is, and its first PSN. */
int qp_to_rtr(struct conn *conn);

/* RTR to RTS, ready to send: tells it our first PSN, and how patient to be. */
int qp_to_rts(struct conn *conn);

#endif
