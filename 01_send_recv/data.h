/*
 * data.h - memory regions, posting, and waiting for a completion
 *
 * Everything that moves data is here; everything that connects is in conn.h.
 */
#ifndef DATA_H
#define DATA_H

#include "conn.h"
#include "options.h"

/* The most bytes that a message may have. */
#define DATA_MESSAGE_SIZE OPTIONS_MESSAGE_MAX

/* Memory that the device may use, and its registration. */
struct region {
	char *buf;
	struct ibv_mr *mr;
};

/* The memory of one connection. Zero it before data_open(). */
struct data {
	struct conn *conn; /* borrowed */
	struct region send;
	struct region recv;
};

/*
 * Allocates the two message buffers and registers them with conn's protection
 * domain. Returns 0, or -1 after reporting why. Either way, end with
 * data_close(), before conn_close().
 */
int data_open(struct data *data, struct conn *conn);

/*
 * Ends all requests that are still posted, so that the device is done with the
 * memory; then deregisters the memory and frees it.
 */
void data_close(struct data *data);

/*
 * Posts one receive: the next message of the peer will be written to
 * data->recv.buf, which belongs to the device until the completion comes.
 * Returns 0, or -1 after reporting why.
 */
int data_post_recv(struct data *data);

/*
 * Posts one send of the first length bytes of data->send.buf, which must not
 * be touched until the completion is there. Returns 0, or -1 after reporting
 * why.
 */
int data_post_send(struct data *data, size_t length);

/*
 * Waits for the next completion, of a send or a receive, and looks at its
 * status first. Returns 0 and the completion in *wc; or -1 after reporting why:
 * it failed, it belongs to nothing that we posted, or none came in time.
 */
int data_wait(struct data *data, struct ibv_wc *wc);

#endif
