/*
 * sender.c - sends a file
 */
#include "files.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "log.h"
#include "refusal.h"

static int beat(void *stream)
{
	return stream_alive(stream);
}

static double now_s(void)
{
	struct timespec now;

	/* Fails only for an unknown clock or a bad address, so not here. */
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

/* Says END, with the digest or, to give the file up, with none: 0 if it is stored. */
static int end(struct stream *stream, const uint8_t *digest,
	       struct news *answer)
{
	struct head head = { .type = HEAD_END };

	if (stream_send(stream, &head, digest, digest ? DIGEST_SIZE : 0) ||
	    stream_message(stream, answer))
		return -1;
	if (answer->head.type == HEAD_REFUSED)
		return 1;
	if (answer->head.type == HEAD_STORED && digest)
		return 0;
	return log_fail("protocol error: message type %d instead of %d",
			answer->head.type, HEAD_STORED);
}

static int refused(const struct outgoing *file, const struct head *head)
{
	log_fail("%s: the server refuses it: %s", file->shown,
		 refusal_words(head->number));
	return 1;
}

/* It cannot be sent to its end, and why was said: the server is to forget it. */
static int give_up(struct stream *stream)
{
	struct news answer;

	return end(stream, NULL, &answer);
}

/* The server has this much of it already, which is not sent again. */
static int go_on(struct stream *stream, struct outgoing *file,
		 const struct news *welcome)
{
	const struct pulse pulse = { beat, stream };
	uint64_t bytes = welcome->head.number;
	uint8_t theirs[DIGEST_SIZE];
	int ret;

	if (welcome->head.length != DIGEST_SIZE)
		return log_fail("protocol error: a digest of %u bytes",
				welcome->head.length);
	if (bytes)
		log_line("%s: the server has %" PRIu64 " of %" PRIu64
			 " bytes; going on there.",
			 filename_of(file->shown), bytes, file->size);
	file->kept = bytes;
	/* Each sign of life posts the receive of this text again: copy it first. */
	memcpy(theirs, welcome->text, sizeof(theirs));
	ret = outgoing_go_on(file, bytes, theirs, &pulse);
	if (ret)
		return ret < 0 ? give_up(stream) : -1;
	return stream_release(stream);
}

/* Keeps the queue full until all parts are on their way. */
static int send_parts(struct stream *stream, struct outgoing *file)
{
	struct news news;
	char *part;
	int n;

	while (file->at < file->size) {
		while (file->at < file->size && (part = stream_part(stream))) {
			n = outgoing_read(file, part, stream->bytes);
			if (n < 0)
				return give_up(stream);
			if (stream_send_part(stream, n))
				return -1;
		}
		if (stream_next(stream, &news))
			return -1;
		if (news.what != NEWS_NONE)
			return log_fail(
				"protocol error: message type %d in the middle of a file",
				news.head.type);
	}
	return 0;
}

/* All parts are on their way, from the byte first on. */
static int finish(struct stream *stream, struct outgoing *file, uint64_t first,
		  double began)
{
	char text[2 * DIGEST_SIZE + 1];
	struct news answer;
	double seconds;
	int ret;

	if (outgoing_end(file))
		return give_up(stream);
	ret = end(stream, file->sha256, &answer);
	if (ret)
		return ret < 0 ? -1 : refused(file, &answer.head);
	seconds = now_s() - began;
	digest_text(file->sha256, text);
	log_line("%s: stored, %" PRIu64
		 " bytes in %.2f s, %.1f MB/s, SHA-256 %s",
		 filename_of(file->shown), file->size, seconds,
		 (file->size - first) / seconds / 1e6, text);
	return 0;
}

int sender_run(struct stream *stream, struct outgoing *file)
{
	struct head head = { .number = file->size, .version = file->version };
	double began = now_s();
	struct news answer;
	uint64_t first;
	int ret;

	if (hello_say(stream, &head, file->name, &answer))
		return -1;
	if (answer.head.type == HEAD_REFUSED)
		return refused(file, &answer.head);
	ret = go_on(stream, file, &answer);
	first = file->at;
	if (ret == 0)
		ret = send_parts(stream, file);
	return ret ? ret : finish(stream, file, first, began);
}
