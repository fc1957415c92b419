/*
 * receiver.c - takes the files that a client sends
 */
#include "receiver.h"

#include <inttypes.h>
#include <string.h>

#include "busy.h"
#include "incoming.h"
#include "log.h"

struct receiver {
	struct stream *stream;
	struct incoming in;
	bool refused; /* the file: what still comes of it is dropped */
	enum refusal why; /* and the sender does not know it yet; or 0 */
};

static int answer(struct receiver *receiver, enum head_type type,
		  uint64_t number)
{
	struct head head = { .type = type, .number = number };

	return stream_send(receiver->stream, &head, NULL, 0);
}

static int refuse(struct receiver *receiver, enum refusal why)
{
	if (receiver->in.open)
		incoming_drop(&receiver->in, false);
	receiver->refused = true;
	receiver->why = why;
	return 0;
}

/* What a file is refused for, by what has become of it here. */
static enum refusal refusal_of(int incoming)
{
	switch (incoming) {
	case INCOMING_WRONG:
		return REFUSAL_WRONG_DATA;
	case INCOMING_THERE:
		return REFUSAL_THERE;
	case INCOMING_FULL:
		return REFUSAL_NO_ROOM;
	default:
		return REFUSAL_NOT_WRITTEN;
	}
}

/*
 * Parts may still come while there is no credit for this: it is not waited for,
 * but sent as soon as there is one.
 */
static int tell_refusal(struct receiver *receiver)
{
	enum refusal why = receiver->why;

	if (!why || !stream_may_send(receiver->stream))
		return 0;
	receiver->why = 0;
	return answer(receiver, HEAD_REFUSED, why);
}

/* What takes long: see busy.h. */
static int begin_incoming(void *of, const atomic_bool *stop)
{
	struct incoming *in = of;

	if (!in->folder->known && folder_look(in->folder, stop))
		return INCOMING_FAILED;
	return incoming_begin(in, stop);
}

static int end_incoming(void *in, const atomic_bool *stop)
{
	/* Nothing ends a sync early, and soon there is a file. */
	(void)stop;
	return incoming_end(in);
}

/* How much of it is here, and the digest of that. */
static int ready(struct receiver *receiver)
{
	struct incoming *in = &receiver->in;
	struct head head = { .type = HEAD_READY, .number = in->at };

	if (in->at)
		log_line("%" PRIu64 " of %" PRIu64 " bytes are here already.",
			 in->at, in->size);
	return stream_send(receiver->stream, &head, in->first, DIGEST_SIZE);
}

/* A new file: is it one that we take, and how much of it is here already? */
static int on_begin(struct receiver *receiver, const struct news *news)
{
	char name[HEAD_TEXT + 1] = "";
	uint32_t length = news->head.length;
	int ret;

	if (receiver->in.open)
		return log_fail("protocol error: a file within a file");
	receiver->refused = false;
	memcpy(name, news->text, length);
	if (receiver->in.folder->fd < 0)
		return refuse(receiver, REFUSAL_NO_DIRECTORY);
	if (!filename_is_good(name, length)) {
		log_text("refused, for its name: ", name, length);
		return refuse(receiver, REFUSAL_NAME);
	}
	log_text("file: ", name, length);
	incoming_name(&receiver->in, name, news->head.number,
		      news->head.version);
	if (busy_run(receiver->stream, begin_incoming, &receiver->in, &ret))
		return -1;
	if (ret)
		return refuse(receiver, refusal_of(ret));
	return ready(receiver);
}

static int on_part(struct receiver *receiver, const struct news *news)
{
	int64_t begun = wait_deadline(0);

	if (receiver->refused)
		return 0;
	if (!receiver->in.open)
		return log_fail("protocol error: a part of no file");
	if (incoming_add(&receiver->in, news->part, news->length))
		return refuse(receiver, REFUSAL_NOT_WRITTEN);
	return busy_piece(receiver->stream, begun);
}

/* The last parts may still be on their way here, if we read them. */
static int take_all_parts(struct receiver *receiver)
{
	struct stream *stream = receiver->stream;
	struct news news;

	while (stream->mode == MODE_READ &&
	       stream->complete != stream->arrived) {
		if (stream_next(stream, &news))
			return -1;
		if (news.what == NEWS_MESSAGE)
			return log_fail(
				"protocol error: the client does not wait for an answer");
		if (news.what == NEWS_PART && on_part(receiver, &news))
			return -1;
	}
	return 0;
}

static int on_end(struct receiver *receiver, const struct news *news)
{
	struct incoming *in = &receiver->in;
	char text[2 * DIGEST_SIZE + 1];
	int ret;

	if (news->head.length != DIGEST_SIZE)
		return log_fail("protocol error: a digest of %u bytes",
				news->head.length);
	memcpy(in->wanted, news->text, DIGEST_SIZE);
	/* Once the client hears of that, it gives the file up. */
	if (receiver->refused)
		return 0;
	if (take_all_parts(receiver))
		return -1;
	if (receiver->refused)
		return 0;
	if (!in->open)
		return log_fail("protocol error: the end of no file");
	if (busy_run(receiver->stream, end_incoming, in, &ret))
		return -1;
	if (ret)
		return refuse(receiver, refusal_of(ret));
	digest_text(in->wanted, text);
	log_line("stored: %" PRIu64 " bytes, SHA-256 %s", in->size, text);
	return answer(receiver, HEAD_STORED, in->size);
}

static int on_message(struct receiver *receiver, const struct news *news)
{
	switch (news->head.type) {
	case HEAD_BEGIN:
		return on_begin(receiver, news);
	case HEAD_END:
		return on_end(receiver, news);
	case HEAD_GIVE_UP:
		if (take_all_parts(receiver))
			return -1;
		if (receiver->in.open) {
			log_line("the client gives the file up.");
			incoming_drop(&receiver->in, false);
		}
		receiver->why = 0;
		return answer(receiver, HEAD_READY, 0);
	case HEAD_BYE:
		return 1;
	default:
		return log_fail("protocol error: message type %d to a receiver",
				news->head.type);
	}
}

int receiver_run(struct stream *stream, struct folder *folder)
{
	struct receiver receiver = {
		.stream = stream,
		.in.folder = folder,
	};
	struct news news;
	int ret = 0;

	/* Others may have been there since the last client. */
	folder->known = false;
	while (ret == 0) {
		ret = stream_next(stream, &news);
		if (ret == 0 && news.what == NEWS_MESSAGE)
			ret = on_message(&receiver, &news);
		else if (ret == 0 && news.what == NEWS_PART)
			ret = on_part(&receiver, &news);
		if (ret == 0)
			ret = tell_refusal(&receiver);
	}
	if (receiver.in.open) {
		log_line("%" PRIu64 " of %" PRIu64 " bytes are kept.",
			 receiver.in.at, receiver.in.size);
		incoming_drop(&receiver.in, true);
	}
	return ret < 0 ? -1 : 0;
}
