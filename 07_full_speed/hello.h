/*
 * hello.h - how a stream begins: memory, receives, and the first credits
 *
 * The receiver posts one receive before the connection is made, so the sender begins with
 * one credit, which HELLO uses up. HELLO says how many receives the sender has posted. Only when
 * the receiver has posted as many of its own does it say so, in WELCOME, or in a sign of
 * life before that.
 */
#ifndef HELLO_H
#define HELLO_H

#include "stream.h"

/*
 * Before the connection is made: creates the queue pair, registers memory, and posts
 * receives. Set what stream.h says. All here return 0, or -1 after reporting why.
 */
int hello_open(struct stream *stream);

/* After conn_end(), however far it came. */
void hello_close(struct stream *stream);

/*
 * Sender: says HELLO, with the file's size, version and name, and waits for the answer, which is
 * WELCOME or REFUSED. depth is then at most the receiver's.
 */
int hello_say(struct stream *stream, struct head *head, const char *name,
	      struct news *answer);

/*
 * Receiver: waits for HELLO, and sets mode, bytes and depth as it says. Then it may
 * say REFUSED; or stream_open(), and WELCOME.
 */
int hello_await(struct stream *stream, struct head *head,
		char name[HEAD_TEXT + 1]);

#endif
