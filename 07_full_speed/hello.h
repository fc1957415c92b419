/*
 * hello.h - what the two sides agree on before files go across
 *
 *     sender                            receiver
 *     MSG_FILES           -->           (makes its end of the channel)
 *                         <--           MSG_MR (for a write: the ring)
 *     (makes its own)
 *     MSG_DONE            -->
 *                         <--           MSG_DONE
 *
 * Only then has each side posted the receives that the other one's credits stand
 * for, and the first header can come.
 */
#ifndef HELLO_H
#define HELLO_H

#include "channel.h"

/*
 * Waits until our send is complete and the peer's message of type is here,
 * in whatever order they come. Returns 0, or -1 after reporting why.
 */
int hello_await(struct data *data, enum msg_type type, struct msg *msg);

/*
 * One completion of these two: sets *sent or *received, with the message in *msg.
 * Returns 0, or -1 after reporting what is wrong with it.
 */
int hello_take(struct data *data, const struct ibv_wc *wc, enum msg_type type,
	       struct msg *msg, bool *sent, bool *received);

/* Server: waits for the client's first message. Returns 0, or -1. */
int hello_first(struct data *data, struct msg *msg);

/*
 * The two sides of the picture. First set data, mode, depth and bytes of
 * channel to the most that is wanted; the receiver sets them to what the sender
 * says, with at most its own depth. Both return 0, or -1 after reporting why.
 */
int hello_send(struct channel *channel);
int hello_receive(struct channel *channel, const struct msg *first);

#endif
