/*
 * sender.c - sends files, one after another
 */
#include "sender.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <sys/stat.h>

#include "busy.h"
#include "digest.h"
#include "filename.h"
#include "log.h"

/* The file that is being sent. */
struct outgoing {
	struct sender *sender;
	struct stream *stream;
	const char *path;
	const char *name; /* without its folders */
	char shown[FILENAME_SHOWN]; /* the path, fit for a terminal */
	int fd;
	struct stat found; /* what it was like when it was opened */
	uint64_t size, at; /* bytes: in all, and that are on their way */
	uint64_t version; /* changes when the file does */
	EVP_MD_CTX *digest;
	uint8_t theirs[DIGEST_SIZE]; /* of what the server has already */
	uint64_t started, next_report; /* on the monotonic clock, in ns */
	uint64_t first; /* where we began: not at 0 if some was there */
	bool watched, reported; /* how far it is, on a terminal */
};

/* What became of a file. */
enum {
	FILE_STORED = 0,
	FILE_REFUSED = 1, /* and why was said; the connection is as before */
	FILE_OTHER = 2 /* the server has something else of that name and time */
};

static uint64_t now_ns(void)
{
	struct timespec now;

	/* Fails only for an unknown clock or a bad address, so not here. */
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int outgoing_open(struct outgoing *out)
{
	struct stat *st = &out->found;

	out->name = filename_of(out->path);
	filename_show(out->path, out->shown);
	/* Nobody may ever write to what is a FIFO: do not wait for that. */
	out->fd = open(out->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (out->fd < 0 || fstat(out->fd, st))
		return log_fail_errno("open", errno, "%s is not sent",
				      out->shown);
	if (!S_ISREG(st->st_mode))
		return log_fail("%s: only files are sent, and this is not one",
				out->shown);
	if (strlen(out->name) > HEAD_TEXT)
		return log_fail("%s: that name is too long", out->shown);
	out->size = st->st_size;
	out->version = st->st_mtim.tv_sec * 1000000000ULL + st->st_mtim.tv_nsec;
	return 0;
}

static void outgoing_close(struct outgoing *out)
{
	EVP_MD_CTX_free(out->digest);
	if (out->fd >= 0)
		close(out->fd);
}

static int next_message(struct outgoing *out, struct head *head)
{
	struct news news;

	do {
		if (stream_next(out->stream, &news))
			return -1;
	} while (news.what != NEWS_MESSAGE);
	*head = news.head;
	if (head->type == HEAD_READY && head->length == DIGEST_SIZE)
		memcpy(out->theirs, news.text, DIGEST_SIZE);
	return 0;
}

static int wrong_type(const struct head *head, enum head_type type)
{
	return log_fail("protocol error: message type %d instead of %d",
			head->type, type);
}

/* Waits for the answer to what was just sent. */
static int await(struct outgoing *out, enum head_type type, struct head *head)
{
	if (next_message(out, head))
		return -1;
	if (head->type == HEAD_REFUSED) {
		log_fail("%s: the server refuses it: %s", out->shown,
			 head_refusal(head->number));
		return FILE_REFUSED;
	}
	if (head->type != type)
		return wrong_type(head, type);
	return FILE_STORED;
}

/* For a person who is waiting; not for a file. */
static void report(struct outgoing *out)
{
	uint64_t now = out->watched ? now_ns() : 0;
	double rate = (out->at - out->first) * 1e9 / (now - out->started);

	if (now < out->next_report || rate <= 0)
		return;
	out->next_report = now + 500000000;
	/* Back to the line's beginning: an error may be what comes next. */
	fprintf(stderr, "%3.0f %%, %.1f MB/s, %.0f s left   \r",
		100.0 * out->at / out->size, rate / 1e6,
		(out->size - out->at) / rate);
	out->reported = true;
}

/*
 * Whether somebody has written to it since it was opened: then what was sent may
 * be of both versions.
 */
static bool has_changed(const struct outgoing *out)
{
	const struct timespec *was = &out->found.st_ctim;
	struct stat st;

	/* A program can set st_mtim back; nobody sets st_ctim. */
	if (!fstat(out->fd, &st) && st.st_size == out->found.st_size &&
	    st.st_ctim.tv_sec == was->tv_sec &&
	    st.st_ctim.tv_nsec == was->tv_nsec)
		return false;
	log_fail(
		"%s has changed while it was being sent, so it is given up; send it again",
		out->shown);
	return true;
}

/* Reads the next part of the file into part: how many bytes, or -1. */
static ssize_t fill(struct outgoing *out, char *part)
{
	uint64_t left = out->size - out->at;
	size_t want = left < out->stream->bytes ? left : out->stream->bytes;
	size_t got = 0;

	while (got < want) {
		ssize_t n =
			pread(out->fd, part + got, want - got, out->at + got);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return log_fail_errno("pread", errno, "%s is given up",
					      out->shown);
		if (n == 0)
			return log_fail(
				"%s has become shorter while it was being sent, so it is given up",
				out->shown);
		got += n;
	}
	return digest_add(out->digest, part, got) ? -1 : (ssize_t)got;
}

/* The file cannot be sent to its end: the server is to forget it. */
static int give_up(struct outgoing *out)
{
	struct head head = { .type = HEAD_GIVE_UP };
	struct news news;

	/* The server may just have refused it: that is no answer to this. */
	do {
		if (stream_wait(out->stream, &news))
			return -1;
		if (news.what == NEWS_MESSAGE && news.head.type != HEAD_REFUSED)
			return wrong_type(&news.head, HEAD_REFUSED);
	} while (news.what == NEWS_MESSAGE);
	if (stream_send(out->stream, &head, NULL, 0))
		return -1;
	do {
		if (next_message(out, &head))
			return -1;
	} while (head.type == HEAD_REFUSED);
	if (head.type != HEAD_READY)
		return wrong_type(&head, HEAD_READY);
	return FILE_REFUSED;
}

/* A message in the middle of a file: it can only be that the server stops it. */
static int stopped(struct outgoing *out, const struct head *head)
{
	if (head->type != HEAD_REFUSED)
		return log_fail(
			"protocol error: message type %d in the middle of a file",
			head->type);
	log_fail("%s: the server stops it: %s", out->shown,
		 head_refusal(head->number));
	return give_up(out);
}

/* Keeps the queue full until all parts are on their way. */
static int send_parts(struct outgoing *out)
{
	struct stream *stream = out->stream;
	struct news news;
	char *part;

	while (out->at < out->size) {
		while (out->at < out->size && (part = stream_part(stream))) {
			int64_t begun = wait_deadline(0);
			ssize_t n = fill(out, part);

			if (n < 0)
				return give_up(out);
			if (stream_send_part(stream, n) ||
			    busy_piece(stream, begun))
				return -1;
			out->at += n;
		}
		if (out->at < out->size && !flow_may_send(&stream->flow))
			stream->flow.waits++;
		if (stream_next(stream, &news))
			return -1;
		if (news.what == NEWS_MESSAGE)
			return stopped(out, &news.head);
		report(out);
	}
	return FILE_STORED;
}

/*
 * What takes long: see busy.h. Afterwards, theirs says whether what the server has
 * is the beginning of our file.
 */
static int hash_first(void *of, const atomic_bool *stop)
{
	struct outgoing *out = of;
	uint8_t ours[DIGEST_SIZE];

	if (digest_add_file(out->digest, out->fd, out->at, stop) ||
	    digest_so_far(out->digest, ours))
		return FILE_REFUSED;
	return out->at && memcmp(ours, out->theirs, DIGEST_SIZE) ? FILE_OTHER :
								   FILE_STORED;
}

/* The server has this much of it already, which is not sent again. */
static int go_on(struct outgoing *out, const struct head *head)
{
	int ret;

	if (head->number > out->size ||
	    (head->number && head->length != DIGEST_SIZE))
		return log_fail(
			"protocol error: the server has more of it than there is, or does not say what");
	if (head->number)
		log_line("%s: the server has %" PRIu64 " of %" PRIu64
			 " bytes; going on there.",
			 filename_of(out->shown), head->number, out->size);
	out->at = out->first = head->number;
	/* What we have sent says nothing: what the server has kept does. */
	out->sender->got_on |= head->number > out->sender->kept;
	out->sender->kept = head->number;
	if (busy_run(out->stream, hash_first, out, &ret))
		return -1;
	if (ret && give_up(out) < 0)
		return -1;
	return ret;
}

/* Tells the server about the file. */
static int begin(struct outgoing *out)
{
	struct head head = {
		.type = HEAD_BEGIN,
		.number = out->size,
		.version = out->version,
	};
	int ret;

	EVP_MD_CTX_free(out->digest);
	if (digest_begin(&out->digest))
		return FILE_REFUSED;
	if (stream_send(out->stream, &head, out->name, strlen(out->name)))
		return -1;
	ret = await(out, HEAD_READY, &head);
	return ret ? ret : go_on(out, &head);
}

/*
 * Two files may have the same name and time. Once we have told the server to
 * forget the other one, what it has of that is gone, unless it was whole.
 */
static int begin_anew(struct outgoing *out)
{
	int ret;

	log_line(
		"%s: that is of another file of this name and time; all is sent.",
		filename_of(out->shown));
	ret = begin(out);
	if (ret != FILE_OTHER)
		return ret;
	log_fail("%s: the server has another file of that name, size and time",
		 out->shown);
	return FILE_REFUSED;
}

static void print_stored(const struct outgoing *out, const char *digest)
{
	double seconds = (now_ns() - out->started) / 1e9;
	double rate = (out->size - out->first) / seconds / 1e6;
	const char *name = filename_of(out->shown);

	if (out->reported)
		fputs("                                \r", stderr);
	if (out->sender->csv)
		log_line("%s,%" PRIu64 ",%s,%u,%zu,%.3f,%.1f,%lu", name,
			 out->size, msg_mode_name(out->stream->mode),
			 out->stream->depth, out->stream->bytes, seconds, rate,
			 out->stream->flow.waits);
	else
		log_line("%s: stored, %" PRIu64
			 " bytes in %.2f s, %.1f MB/s, SHA-256 %s",
			 name, out->size, seconds, rate, digest);
}

static int end(struct outgoing *out)
{
	struct head head = { .type = HEAD_END };
	struct news news;
	uint8_t digest[DIGEST_SIZE];
	char text[2 * DIGEST_SIZE + 1];
	int ret;

	if (has_changed(out) || digest_end(out->digest, digest))
		return give_up(out);
	/* While this waits for a credit, the server may stop the file. */
	if (stream_wait(out->stream, &news))
		return -1;
	if (news.what == NEWS_MESSAGE)
		return stopped(out, &news.head);
	if (stream_send(out->stream, &head, digest, DIGEST_SIZE))
		return -1;
	ret = await(out, HEAD_STORED, &head);
	if (ret)
		return ret < 0 ? -1 : give_up(out);
	digest_text(digest, text);
	print_stored(out, text);
	return FILE_STORED;
}

/* One file: FILE_STORED, FILE_REFUSED after reporting why, or -1. */
static int send_file(struct sender *sender, struct stream *stream)
{
	struct outgoing out = {
		.sender = sender,
		.stream = stream,
		.path = sender->names[sender->next],
		.fd = -1,
		.started = now_ns(),
		.watched = isatty(STDERR_FILENO),
	};
	int ret = FILE_REFUSED;

	out.next_report = out.started + 1000000000;
	if (!outgoing_open(&out)) {
		ret = begin(&out);
		if (ret == FILE_OTHER)
			ret = begin_anew(&out);
		if (ret == 0)
			ret = send_parts(&out);
		if (ret == 0)
			ret = end(&out);
	}
	outgoing_close(&out);
	return ret;
}

int sender_run(struct sender *sender, struct stream *stream)
{
	struct head head = { .type = HEAD_BYE };
	int ret;

	for (; sender->next < sender->count; sender->next++) {
		ret = send_file(sender, stream);
		if (ret < 0)
			return -1;
		sender->refused += ret;
		sender->got_on = true;
		sender->kept = 0;
	}
	if (stream_send(stream, &head, NULL, 0))
		return -1;
	/* Before we disconnect: that would flush what is still to be sent. */
	return stream_flush(stream);
}
