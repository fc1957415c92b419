/*
 * receiver.c - takes the file that a client sends
 */
#include "files.h"

#include <inttypes.h>
#include <string.h>

#include "incoming.h"
#include "log.h"

static int beat(void *stream)
{
	return stream_alive(stream);
}

static int answer(struct stream *stream, enum head_type type, uint64_t number)
{
	struct head head = { .type = type, .number = number };

	return stream_send(stream, &head, NULL, 0);
}

/* Is it a file that we take? */
static enum refusal check_name(const struct folder *folder, const char *name,
			       uint32_t length)
{
	if (folder->fd < 0)
		return REFUSAL_NO_DIRECTORY;
	if (!filename_is_good(name, length)) {
		log_text("refused, for its name: ", name, length);
		return REFUSAL_NAME;
	}
	log_text("file: ", name, length);
	return REFUSAL_NONE;
}

/* How much of it is here, and the digest of that; and where to write the rest. */
static int welcome(struct stream *stream, const struct incoming *in)
{
	struct head head = {
		.type = HEAD_WELCOME,
		.number = in->at,
		.depth = stream->depth,
	};

	if (in->at)
		log_line("%" PRIu64 " of %" PRIu64 " bytes are here already.",
			 in->at, in->size);
	if (stream->mode == MODE_WRITE) {
		head.addr = (uintptr_t)stream->parts.buf;
		head.rkey = stream->parts.mr->rkey;
	}
	return stream_send(stream, &head, in->first, DIGEST_SIZE);
}

/* Until HELLO is answered: *why is what the file is refused for, or 0. */
static int begin(struct stream *stream, struct incoming *in, enum refusal *why)
{
	const struct pulse pulse = { beat, stream };
	char name[HEAD_TEXT + 1];
	struct head head;
	int ret;

	if (hello_await(stream, &head, name))
		return -1;
	log_line("files by %s, %u parts of %zu bytes at a time.",
		 mode_name(stream->mode), stream->depth, stream->bytes);
	*why = check_name(in->folder, name, head.length);
	if (*why)
		return answer(stream, HEAD_REFUSED, *why);
	if (stream_open(stream))
		return -1;
	incoming_name(in, name, head.number, head.version);
	ret = incoming_begin(in, &pulse);
	if (ret < 0)
		return -1;
	*why = ret;
	return *why ? answer(stream, HEAD_REFUSED, *why) : welcome(stream, in);
}

/* It has come, unless the client gives the file up: then it has no text. */
static int on_end(struct incoming *in, const struct news *news,
		  enum refusal *why)
{
	const struct head *head = &news->head;

	if (head->type != HEAD_END ||
	    (head->length && head->length != DIGEST_SIZE))
		return log_fail(
			"protocol error: message type %d with a text of %u bytes, in the middle of a file",
			head->type, head->length);
	memcpy(in->wanted, news->text, head->length);
	if (!head->length) {
		log_line("the client gives the file up.");
		*why = REFUSAL_WRONG_DATA;
	}
	return 0;
}

/* Takes all parts, and END. If we read parts, the last of them may come after it. */
static int take_parts(struct stream *stream, struct incoming *in,
		      enum refusal *why)
{
	bool ended = false;
	struct news news;

	while (!ended || (stream->mode == MODE_READ &&
			  stream->complete != stream->arrived)) {
		if (stream_next(stream, &news))
			return -1;
		/* If it cannot be written, the client hears of that at the end. */
		if (news.what == NEWS_PART && !*why &&
		    incoming_add(in, news.part, news.length))
			*why = REFUSAL_NOT_WRITTEN;
		if (news.what != NEWS_MESSAGE)
			continue;
		if (ended)
			return log_fail(
				"protocol error: the client does not wait for an answer");
		if (on_end(in, &news, why))
			return -1;
		ended = true;
	}
	return 0;
}

/* All has come: is it what was sent? */
static int finish(struct stream *stream, struct incoming *in, enum refusal why)
{
	char text[2 * DIGEST_SIZE + 1];

	if (why)
		incoming_drop(in, false);
	else
		why = incoming_end(in);
	if (why)
		return answer(stream, HEAD_REFUSED, why);
	digest_text(in->wanted, text);
	log_line("stored: %" PRIu64 " bytes, SHA-256 %s", in->size, text);
	return answer(stream, HEAD_STORED, in->size);
}

int receiver_run(struct stream *stream, struct folder *folder)
{
	struct incoming in = { .folder = folder };
	enum refusal why = REFUSAL_NONE;
	int ret;

	/* Others may have been there since the last client. */
	folder->known = false;
	ret = begin(stream, &in, &why);
	if (ret == 0 && !why) {
		ret = take_parts(stream, &in, &why);
		if (ret == 0)
			ret = finish(stream, &in, why);
	}
	if (in.open) {
		log_line("%" PRIu64 " of %" PRIu64 " bytes are kept.", in.at,
			 in.size);
		incoming_drop(&in, true);
	}
	return ret;
}
