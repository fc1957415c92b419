/*
 * stream.h - a stream of messages with a full queue, and credits
 *
 * Both sides post depth receives, and post each again as soon as its message is
 * dealt with. The contents of files go one of three ways, from one region of
 * depth parts into another:
 *
 *   send   SEND: behind the header, into the part of the next receive
 *   write  WRITE with immediate data, into the part of the ring that is next; the
 *          immediate value is the length
 *   read   the header says where it is; the receiver reads it into its own
 */
#ifndef STREAM_H
#define STREAM_H

#include "chain.h"
#include "flow.h"
#include "message.h"

/* The most parts. */
#define STREAM_DEPTH_MAX 1024

/* A slot of the region heads: a header, and room for a text. */
#define STREAM_SLOT (HEAD_SIZE + HEAD_TEXT)

/* What the last completion brought, and what is due when it is dealt with. */
struct held {
	bool receive; /* slot is to be posted again */
	bool credit; /* and the peer gets it back */
	bool part; /* and the place of a part */
	unsigned int slot;
};

/* Set conn, depth and, to send files, mode and bytes; and zero the rest. */
struct stream {
	struct conn *conn; /* borrowed */
	enum mode mode;
	unsigned int depth; /* parts, and receives */
	size_t bytes; /* of a part */
	bool receives; /* files; otherwise it sends them */
	struct region heads; /* headers and texts, to be received and sent */
	struct region parts; /* depth of them; to be sent, with their headers */
	char *outgoing; /* in heads: a slot for each place in the send queue */
	uint64_t ring; /* write: the address of the receiver's parts, */
	uint32_t ring_rkey; /* and their key */
	struct flow flow;
	struct chain chain;
	unsigned int due; /* credits of receives that are not posted yet */
	/* Parts since the beginning, in 64 bits: places follow from them. */
	uint64_t posted; /* that we have sent, written or announced */
	uint64_t complete; /* those whose requests are complete */
	uint64_t taken; /* receiver: dealt with; sender: what that says */
	uint64_t arrived; /* receiver: that have come, or were announced */
	struct held held;
	int64_t since, busy_ms; /* since a sign of life: see stream_alive() */
};

/* What a completion means. */
struct news {
	enum {
		NEWS_NONE, /* one of our requests is complete, or credits came */
		NEWS_MESSAGE, /* head and text */
		NEWS_PART /* receiver: the next part, part and length */
	} what;
	struct head head;
	const char *text; /* head.length bytes; until the next stream_next() */
	const char *part;
	uint32_t length;
};

/* How many requests may be under way: for each part a message with credits, too. */
static inline unsigned int stream_sends(unsigned int depth)
{
	return 2 * depth;
}

/*
 * Registers the memory of the parts, and posts all receives, once both sides
 * have agreed on mode, depth and bytes: see hello.h. All here return 0, or -1
 * after reporting why, unless it says otherwise.
 */
int stream_open(struct stream *stream);

/* The part that is to be filled next, if it is free and may be sent; or NULL. */
char *stream_part(const struct stream *stream);

/* Sends length bytes of it. */
int stream_send_part(struct stream *stream, uint32_t length);

/*
 * Sends a header, with length bytes of text behind it, once there is a credit.
 * Only credits may be due from the peer.
 */
int stream_send(struct stream *stream, struct head *head, const void *text,
		size_t length);

/*
 * Sends a header at once, without a look at the credits. head->length bytes go
 * behind it: text, or a part of ours, which has room for the header in front;
 * or neither.
 */
int stream_post(struct stream *stream, struct head *head, const void *text,
		char *part);

/*
 * Waits for the next completion, and returns what it means in *news. What the
 * last one has brought is dealt with now: its receive is posted again, and its
 * credit goes back.
 */
int stream_next(struct stream *stream, struct news *news);

/* That, for who does not wait for the next one soon. */
int stream_release(struct stream *stream);

/* Waits for the peer's next message. */
int stream_message(struct stream *stream, struct news *news);

/*
 * In the middle of work that takes long: call it now and then. The peer waits
 * no longer than its -t, so each half a second it gets a sign of life, which is
 * a message with the credits that we owe, if any. Only credits may be due from
 * it meanwhile. Fails if it has left, or if the program is to stop.
 */
int stream_alive(struct stream *stream);

#endif
