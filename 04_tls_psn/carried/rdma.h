/*
 * rdma.h - connections, memory, requests and their completions
 *
 * From an address to a connected queue pair, without the connection manager. What
 * it did is done here, and by oob.h (who is the peer) and qp.h (the states).
 * Functions return 0, or -1 after reporting why, unless it says otherwise.
 */
#ifndef RDMA_H
#define RDMA_H

#include <stdbool.h>

#include <infiniband/verbs.h>

#include "conn.h"

/* Memory that the device may use, and its registration. Zero it first. */
struct region {
	void *buf;
	size_t size;
	struct ibv_mr *mr;
};

/*
 * Server: listens, and opens the devices by which clients may come. The listener
 * needs patience and network as a connection does, and ends with conn_close().
 */
int conn_listen(struct conn *listener, const struct oob_way *way);

/*
 * Server: waits, without a deadline, for the next client. Returns 1 and the
 * client's end of the exchange, for conn_take(); 0 if the program was asked to
 * stop; or -1 if no client can come any more.
 */
int conn_next(struct conn *listener, struct oob *client);

/*
 * Server: makes conn of that client, which is conn's from now on, and says hello.
 * Then: finds out which of listener's devices the client came by, and receives its
 * parameters.
 */
int conn_take(struct conn *conn, const struct conn *listener,
	      const struct oob *client);
int conn_request(struct conn *conn, const struct conn *listener);

/* Client: reaches the server, and hears its hello. */
int conn_resolve(struct conn *conn, const struct oob_way *way);

/*
 * Finds the device and the GID that belong to the way between the two: one of those
 * that sharer has open or, if that is NULL, one that it opens.
 */
int conn_find_device(struct conn *conn, const struct conn *sharer);

/*
 * Creates the queue pair and what it needs, with room for that many sends (and
 * writes and reads) and receives at a time, and takes it to INIT, where the peer
 * gets at most that access. Chooses the number of its first packet: what options
 * say, or one that nobody can predict.
 */
int conn_create_qp(struct conn *conn, unsigned int sends, unsigned int receives,
		   unsigned int access);

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
 * Server, and client: sends conn->mine, all of which must be known by now, and
 * takes the queue pair to RTR and RTS. Post the receives first. When they return
 * 0, the peer is ready, too, and we may send.
 */
int conn_accept(struct conn *conn);
int conn_connect(struct conn *conn);

/*
 * Waits for the next completion, which may be a failure: look at its status. If
 * none comes, the error says that we waited for what. If the peer leaves, all
 * that is still posted comes back flushed.
 */
int conn_wait(struct conn *conn, struct ibv_wc *wc, const char *what);

/*
 * Client: says goodbye, and waits for the server's; server: waits for the client's,
 * and then says its own. A side that lacks something says none, so that the other
 * one fails, too: the success of its requests is no proof that they were delivered.
 */
int conn_disconnect(struct conn *conn);
int conn_wait_disconnect(struct conn *conn);

/*
 * However the connection has fared: tells the peer that it is over, and gets
 * all posted requests back, so that their memory may be freed.
 */
void conn_end(struct conn *conn);

/*
 * Frees everything that was made so far. Close the regions first. Fails if something
 * cannot be destroyed, which is lost then.
 */
int conn_close(struct conn *conn);

#endif
