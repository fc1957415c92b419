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

/* What the last completion brought, and what is due when it is dealt with. */
struct held {
	bool receive; /* slot is to be posted again */
	bool credit; /* and the peer gets it back */
	bool part; /* and the place of a part */
	unsigned int slot;
};

/* Set conn, mode, depth and bytes to what is wanted, and zero the rest. */
struct stream {
	struct conn *conn; /* borrowed */
	enum mode mode;
	unsigned int depth; /* parts, and receives */
	size_t bytes; /* of a part */
	bool receives; /* files; otherwise it sends them */
	struct region parts; /* depth of them; to be sent, with their headers */
	struct region heads; /* headers and texts, to be received and sent */
	struct remote ring; /* write: the receiver's parts */
	struct flow flow;
	struct chain chain;
	unsigned int due; /* credits of receives that are not posted yet */
	/* Parts since the beginning, in 64 bits: places follow from them. */
	uint64_t posted; /* that we have sent, written or announced */
	uint64_t complete; /* those whose requests are complete */
	uint64_t taken; /* receiver: dealt with; sender: what that says */
	uint64_t arrived; /* receiver: that have come, or were announced */
	struct held held;
	int64_t busy_ms; /* of pieces of work since a sign of life: see busy.h */
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

/* How many requests depth parts and all that belongs to them may need. */
unsigned int stream_sends(unsigned int depth);

/*
 * Registers the memory and posts the receives, once both sides have agreed on mode,
 * depth and bytes: see hello.h. All here return 0, or -1 after reporting why, unless
 * it says otherwise. End with stream_close(), after conn_end().
 */
int stream_open(struct stream *stream);
void stream_close(struct stream *stream);

/* The part that is to be filled next, if it is free and may be sent; or NULL. */
char *stream_part(const struct stream *stream);

/* Sends length bytes of it. */
int stream_send_part(struct stream *stream, uint32_t length);

/* Whether stream_send() would not have to wait. */
bool stream_may_send(const struct stream *stream);

/*
 * Waits until stream_send() would not, or until the peer says something or a part
 * comes, which is then in *news.
 */
int stream_wait(struct stream *stream, struct news *news);

/*
 * Sends a header, with length bytes of text behind it, once there is a credit.
 * Only credits may be due from the peer.
 */
int stream_send(struct stream *stream, struct head *head, const void *text,
		size_t length);

/* Waits until all that we have posted has been sent. */
int stream_flush(struct stream *stream);

/*
 * Waits for the next completion, and returns what it means in *news. What the
 * last one has brought is dealt with now: its receive is posted again, and its
 * credit goes back.
 */
int stream_next(struct stream *stream, struct news *news);

/* The same without waiting. Returns 1, 0 if nothing has come, or -1. */
int stream_try(struct stream *stream, struct news *news);

#endif
