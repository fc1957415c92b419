/*
 * hello.h - what the two sides agree on before files go across
 *
 *     sender                            receiver
 *     MSG_FILES           -->           (makes its end of the stream)
 *                         <--           MSG_MR (for a write: the ring)
 *     (makes its own)
 *     MSG_DONE            -->
 *                         <--           MSG_DONE
 *
 * Only then has each side posted the receives that the other one's credits stand
 * for, and the first header can come. The receives for these messages are posted
 * before the connection is made.
 */
#ifndef HELLO_H
#define HELLO_H

#include "stream.h"

/* Where each message is in the region. */
enum slot {
	SLOT_SEND_FIRST,
	SLOT_SEND_DONE,
	SLOT_RECV,
	SLOT_COUNT = 4,
	HELLO_SENDS = SLOT_RECV,
	HELLO_RECEIVES = SLOT_COUNT - SLOT_RECV
};

/* Set conn, and zero the rest. */
struct hello {
	struct conn *conn; /* borrowed */
	struct region messages; /* SLOT_COUNT of them, to be sent and received */
};

/*
 * Creates the queue pair for a stream of that depth, as conn_create_qp() does. All
 * here return 0, or -1 after reporting why.
 */
int hello_create_qp(struct conn *conn, unsigned int depth);

/*
 * Registers the messages and posts the receives. Either way, end with hello_close(), after conn_end().
 */
int hello_open(struct hello *hello);
void hello_close(struct hello *hello);

/* Sends msg from slot, which must not be touched until that is complete. */
int hello_send(struct hello *hello, enum slot slot, const struct msg *msg);

/* Server: waits for the client's first message, which must be of type. */
int hello_first(struct hello *hello, enum msg_type type, struct msg *msg);

/*
 * Waits until our send is complete and the peer's message of type is here,
 * in whatever order they come.
 */
int hello_await(struct hello *hello, enum msg_type type, struct msg *msg);

/*
 * One completion of these two: sets *sent or *received, with the message in *msg.
 */
int hello_take(struct hello *hello, const struct ibv_wc *wc, enum msg_type type,
	       struct msg *msg, bool *sent, bool *received);

/*
 * The two sides of the picture; they end with stream_open(). The receiver, to whom
 * first came, sets mode and bytes to what that says, and depth to at most its own.
 */
int hello_offer(struct hello *hello, struct stream *stream);
int hello_answer(struct hello *hello, struct stream *stream,
		 const struct msg *first);

#endif
