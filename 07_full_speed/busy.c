/*
 * busy.c - work that takes long, while the connection stays alive
 */
#include "busy.h"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include <sys/eventfd.h>

#include "log.h"

/* How often we give a sign of life: the peer's -t is at least twice that. */
#define SIGN_MS 500

/* Credits, even if there are none. */
static int send_sign(struct stream *stream)
{
	struct head head = { .type = HEAD_CREDIT };

	if (!stream_may_send(stream))
		return 0;
	return stream_send(stream, &head, NULL, 0);
}

int busy_piece(struct stream *stream, int64_t begun)
{
	const struct patience *patience = &stream->conn->patience;

	stream->busy_ms += wait_deadline(0) - begun;
	if (stream->busy_ms < SIGN_MS)
		return 0;
	stream->busy_ms = 0;
	if (wait_readable(-1, -1, patience->stop_fd, 0) < 0 &&
	    errno != ETIMEDOUT)
		return wait_fail("the disk", errno, patience);
	return send_sign(stream);
}

struct busy {
	int (*work)(void *of, const atomic_bool *stop);
	void *of;
	atomic_bool stop;
	int done_fd; /* becomes readable when the work is done */
	int ret;
};

static void *thread_main(void *arg)
{
	struct busy *busy = arg;

	busy->ret = busy->work(busy->of, &busy->stop);
	/* Fails only if the counter is full, and it is at 0. */
	eventfd_write(busy->done_fd, 1);
	return NULL;
}

/*
 * Takes what has come; it can only be credits. No more than one queue of it: a peer
 * that sends without end would keep us from the work's end, and from a signal.
 */
static int take_some(struct stream *stream)
{
	struct news news = { .what = NEWS_NONE };
	int n = 1;

	for (unsigned int i = 0; n > 0 && i < stream->depth; i++) {
		n = stream_try(stream, &news);
		if (news.what != NEWS_NONE)
			return log_fail(
				"protocol error: the peer does not wait for an answer");
	}
	return n < 0 ? -1 : 0;
}

/* Gives signs of life until the work is done; the peer may leave meanwhile. */
static int stay_alive(struct stream *stream, int done_fd)
{
	struct conn *conn = stream->conn;
	int news;

	for (;;) {
		news = wait_readable(done_fd, conn->events->fd,
				     conn->patience.stop_fd,
				     wait_deadline(SIGN_MS));
		if (news > 0 && news & WAIT_FIRST)
			return 0;
		if (news < 0 && errno != ETIMEDOUT)
			return wait_fail("the disk", errno, &conn->patience);
		/* If the peer has left, what is posted comes back: taken here. */
		if ((news > 0 && conn_news(conn)) || take_some(stream) ||
		    send_sign(stream))
			return -1;
	}
}

int busy_run(struct stream *stream,
	     int (*work)(void *of, const atomic_bool *stop), void *of, int *ret)
{
	struct busy busy = { .work = work, .of = of };
	pthread_t thread;
	int err, alive = -1;

	busy.done_fd = eventfd(0, EFD_CLOEXEC);
	if (busy.done_fd < 0)
		return log_fail_errno(
			"eventfd", errno,
			"see \"ulimit -n\" for the number of descriptors allowed");
	err = pthread_create(&thread, NULL, thread_main, &busy);
	if (err) {
		log_fail_errno("pthread_create", err, "see \"ulimit -u\"");
	} else {
		alive = stay_alive(stream, busy.done_fd);
		busy.stop = true;
		pthread_join(thread, NULL);
		*ret = busy.ret;
	}
	close(busy.done_fd);
	return alive;
}
