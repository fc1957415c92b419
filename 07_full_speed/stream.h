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
 *
 * Functions return 0, or -1 after reporting why, unless it says otherwise.
 */
#ifndef STREAM_H
#define STREAM_H

#include "flow.h"
#include "message.h"
#include "rdma.h"

/*
 * ---- chain.c: requests and completions, many at a time ----
 *
 * Requests of each queue gather in a list, which one call hands to the device when it is
 * as long as it may be, or when the program would otherwise sleep. One call takes as many
 * completions as there are. Each request has one, which conn_end() relies on.
 */

/* The longest chain, and the most completions that are taken in one call. */
#define CHAIN_MAX 16
#define BATCH_MAX 32

/* Set conn and most, and zero the rest. */
struct chain {
	struct conn *conn; /* borrowed */
	unsigned int most; /* how many gather, at most: 1 to CHAIN_MAX */
	uint64_t sends, sent; /* of the send queue: all; complete */
	/* Those that wait to be posted: of the send queue, and receives. */
	struct ibv_send_wr send_wrs[CHAIN_MAX];
	struct ibv_sge send_pieces[CHAIN_MAX];
	unsigned int sends_waiting;
	struct ibv_recv_wr recv_wrs[CHAIN_MAX];
	struct ibv_sge recv_pieces[CHAIN_MAX];
	unsigned int receives_waiting;
	/* Completions that were taken, and not yet dealt with. */
	struct ibv_wc wcs[BATCH_MAX];
	unsigned int wcs_count, wcs_taken;
};

/* length bytes of a region, from at on. */
struct ibv_sge chain_piece(const struct region *region, const char *at,
			   uint32_t length);

/*
 * Puts wr, or a receive, for one piece of memory at the end of its chain, and posts
 * that if it is full.
 */
int chain_send(struct chain *chain, struct ibv_send_wr wr,
	       struct ibv_sge piece);
int chain_receive(struct chain *chain, uint64_t wr_id, struct ibv_sge piece);

/* Posts what has gathered. */
int chain_post_sends(struct chain *chain);
int chain_post_receives(struct chain *chain);

/*
 * Takes the next completion without waiting, which may be a failure: look at its status.
 * Returns 1, 0 if there is none, or -1.
 */
int chain_poll(struct chain *chain, struct ibv_wc *wc);

/* ---- stream.c ---- */

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
	/* Parts since the beginning. Number n is at place n modulo depth. */
	uint64_t posted; /* that we have sent, written or announced */
	uint64_t complete; /* those whose requests are complete */
	uint64_t taken; /* dealt with by the receiver, who tells the sender */
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
 * have agreed on mode, depth and bytes.
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

/* The same at once, for a caller that will not wait for the next one soon. */
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

/*
 * ---- hello.c: how a stream begins ----
 *
 * The receiver posts one receive before the connection is made, so the sender begins with
 * one credit, which HELLO uses up. HELLO says how many receives the sender has posted. Only when
 * the receiver has posted as many of its own does it say so, in WELCOME, or in a sign of
 * life before that.
 */

/*
 * Before the connection is made: creates the queue pair, registers memory, and posts
 * receives.
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
