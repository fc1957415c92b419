/*
 * message.h - one message each way
 *
 * A message is 0 to 1024 bytes of text, without a terminator: the completion
 * says how many came.
 */
#ifndef MESSAGE_H
#define MESSAGE_H

#include "rdma.h"

#define MESSAGE_SIZE 1024

/* The memory of one connection: what we send, and what we receive. */
struct message {
	struct conn *conn; /* set this, and zero the rest */
	struct region send, recv; /* each has room for one message */
	bool sent, received; /* which of the two is done */
};

/* Either way, end with message_close(), before conn_close(). */
int message_open(struct message *message);
void message_close(struct message *message);

/*
 * Post the receive, and a send of the first length bytes of send.buf. The bytes
 * are the device's until the completion comes.
 */
int message_post_recv(struct message *message);
int message_post_send(struct message *message, size_t length);

/*
 * Waits for the next of the two completions, and prints what it brings. Returns
 * 0, or -1 after reporting why: it failed, none came in time, or it belongs to
 * nothing that we posted.
 */
int message_wait(struct message *message);

#endif
