/*
 * answer.c - what the server does with a datagram
 */
#include "answer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ipv4.h"
#include "dgram.h"
#include "log.h"
#include "retry.h"

enum {
	PAUSE_MS = 100 /* after an error of recvmsg(2) */
};

int answer_open(struct answer *answer, bool once,
		const struct patience *patience)
{
	answer->once = once;
	answer->patience = patience;
	answer->buf = malloc(DGRAM_MAX);
	if (!answer->buf)
		return log_fail("no memory for a datagram of %d bytes",
				DGRAM_MAX);
	return lend_open(&answer->lend);
}

void answer_close(struct answer *answer)
{
	rds_close(&answer->control);
	/* The socket first: closing it makes the kernel release the memory. */
	rds_close(&answer->rds);
	lend_close(&answer->lend);
	free(answer->buf);
	answer->buf = NULL;
}

/*
 * Sends, with a loan or without (NULL), and waits if it must. Whoever takes
 * nothing would fill the send buffer, which all clients share; so if it is still
 * full after the wait, what was queued for that host is thrown away.
 */
static int send_bytes(struct answer *answer, const struct sockaddr_in *to,
		      const void *buf, size_t length, struct loan *loan)
{
	const struct patience *patience = answer->patience;
	int64_t deadline = wait_deadline(patience->timeout_ms);
	char text[IPV4_TEXT_SIZE];

	while (!silent_has(&answer->silent, to)) {
		if ((loan ? lend_send(loan, &answer->rds, buf, length) :
			    rds_send(&answer->rds, to, buf, length, NULL)) == 0)
			return 0;
		if (!retry_may(errno, loan))
			return rds_send_fail(errno, to, length);
		if (retry_wait(&answer->rds, to, loan, patience, deadline)) {
			/* Before it: asked to stop, or something failed. */
			if (wait_deadline(0) < deadline)
				return -1;
			silent_add(&answer->silent, &answer->rds, to,
				   patience->timeout_ms);
			deadline = wait_deadline(patience->timeout_ms);
		}
	}
	return log_fail("%s port %d is not answered: its host is silent",
			ipv4_text(to, text), ntohs(to->sin_port));
}

static int send_text(struct answer *answer, const struct sockaddr_in *to,
		     enum dgram_type type, const char *text, struct loan *loan)
{
	char buf[DGRAM_HEADER + DGRAM_TEXT_MAX];
	struct dgram dgram = {
		.type = type,
		.text = text,
		.length = strlen(text),
	};

	return send_bytes(answer, to, buf, dgram_encode(buf, &dgram), loan);
}

static int answer_text(struct answer *answer, const struct sockaddr_in *from,
		       const struct dgram *dgram)
{
	char text[DGRAM_TEXT_MAX];

	log_text("received message: ", dgram->text, dgram->length);
	snprintf(text, sizeof(text),
		 "message from passive/server side with pid %d", getpid());
	return send_text(answer, from, DGRAM_ANSWER, text, NULL);
}

static int answer_total(struct answer *answer, const struct sockaddr_in *from)
{
	char text[COUNTS_TEXT];

	counts_text(&answer->counts, from, text);
	log_line("received: %s.", text);
	return send_text(answer, from, DGRAM_TOTAL, text, NULL);
}

static int answer_borrow(struct answer *answer, const struct sockaddr_in *from)
{
	int64_t until = wait_deadline(answer->patience->timeout_ms);
	struct loan *loan =
		lend_begin(&answer->lend, &answer->rds, from, until);

	if (!loan)
		return -1;
	log_line("lending %d bytes.", LEND_SIZE);
	if (send_text(answer, from, DGRAM_LENT, "here you are", loan) == 0)
		return 0;
	lend_end(loan, &answer->rds);
	return -1;
}

static int show_memory(struct answer *answer, const struct sockaddr_in *from)
{
	struct loan *loan = lend_find(&answer->lend, from);

	if (!loan)
		return log_fail(
			"a client says that it has written, but has no memory of ours");
	log_text("the memory that was lent: ", loan->memory,
		 strnlen(loan->memory, LEND_SIZE));
	return lend_end(loan, &answer->rds);
}

/*
 * Sends the last datagram of this socket. Closing would throw it away if it
 * were still queued, so it is as long as the buffer: when there is room again,
 * it has been acknowledged.
 */
static int send_last(struct answer *answer, const struct sockaddr_in *to)
{
	const struct patience *patience = answer->patience;
	long length = rds_shrink_room(&answer->rds);

	if (length < 0)
		return -1;
	memset(answer->buf, 0, length);
	dgram_header(answer->buf, DGRAM_BYE, 0);
	if (send_bytes(answer, to, answer->buf, length, NULL))
		return -1;
	if (retry_wait_room(&answer->rds, patience,
			    wait_deadline(patience->timeout_ms)))
		return wait_fail("the acknowledgement of our goodbye", errno,
				 patience);
	return ANSWER_BYE;
}

/* The client has said goodbye, and we answer with the same. */
static int answer_bye(struct answer *answer, const struct sockaddr_in *from)
{
	struct loan *loan = lend_find(&answer->lend, from);

	log_line("goodbye.");
	counts_forget(&answer->counts, from);
	if (loan && lend_end(loan, &answer->rds))
		return -1;
	if (answer->once)
		return send_last(answer, from);
	return send_text(answer, from, DGRAM_BYE, "", NULL);
}

/* The datagram is in buf. Returns 0, ANSWER_BYE, or -1 (reported why). */
static int answer_one(struct answer *answer, const struct rds_news *news)
{
	struct dgram dgram;

	if (dgram_decode(&dgram, answer->buf, news->length))
		return -1;
	switch (dgram.type) {
	case DGRAM_TEXT:
		return answer_text(answer, &news->from, &dgram);
	case DGRAM_NUMBERED:
		counts_number(&answer->counts, &news->from, dgram.number);
		return 0;
	case DGRAM_TOTAL:
		return answer_total(answer, &news->from);
	case DGRAM_ECHO:
		return send_bytes(answer, &news->from, answer->buf,
				  news->length, NULL);
	case DGRAM_BORROW:
		return answer_borrow(answer, &news->from);
	case DGRAM_WRITTEN:
		return show_memory(answer, &news->from);
	case DGRAM_BYE:
		return answer_bye(answer, &news->from);
	default:
		return log_fail(
			"a datagram of type %d: a client's business, not a server's",
			dgram.type);
	}
}

/* The failure was reported; the next client may succeed. */
static int excuse(const struct answer *answer, int ret)
{
	return ret < 0 && !answer->once ? 0 : ret;
}

/*
 * The next datagram into buf. An error of recvmsg(2) may come again at once, as
 * when the kernel has no memory; the pause leaves the processor to others.
 */
static int receive(struct answer *answer, struct rds *rds,
		   struct rds_news *news)
{
	if (rds_recv(rds, answer->buf, DGRAM_MAX, news) == 0)
		return 0;
	wait_readable(-1, -1, answer->patience->stop_fd,
		      wait_deadline(PAUSE_MS));
	return -1;
}

int answer_next(struct answer *answer)
{
	struct rds_news news;

	if (receive(answer, &answer->rds, &news))
		return excuse(answer, -1);
	if (!news.datagram)
		return 0;
	return excuse(answer, answer_one(answer, &news));
}

/* The datagram is in buf. Returns ANSWER_READ_ON, or -1 (reported why). */
static int control_one(struct answer *answer, size_t length)
{
	struct dgram dgram;

	if (dgram_decode(&dgram, answer->buf, length))
		return -1;
	if (dgram.type != DGRAM_READ_ON)
		return log_fail("a datagram of type %d on the control port",
				dgram.type);
	log_line("told to read on.");
	return ANSWER_READ_ON;
}

int answer_control(struct answer *answer)
{
	struct rds_news news;

	if (receive(answer, &answer->control, &news))
		return excuse(answer, -1);
	/* POLLIN may only mean that a congestion map has changed. */
	if (!news.datagram)
		return 0;
	return excuse(answer, control_one(answer, news.length));
}
