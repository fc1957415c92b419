/*
 * load.c - many connections from one client program, with a thread for each
 */
#include "load.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "conn.h"
#include "descriptors.h"
#include "log.h"
#include "retry.h"

/* A thread needs far less; more would be 8 MB of addresses for each. */
#define STACK_SIZE (512 * 1024)

struct load {
	int (*connection)(struct shared *, const struct options *,
			  const struct patience *, struct hello *);
	struct shared *shared;
	const struct options *options;
	const struct patience *patience;
	pthread_mutex_t lock; /* for what follows */
	unsigned int served, refused, failed;
	unsigned int unmade; /* since the program was asked to stop */
};

/* A connection that is tried again while the server is full. */
static int connect_patiently(struct load *load)
{
	const struct options *options = load->options;
	unsigned int refusals = 0;
	struct hello hello;
	int ms, ret;

	for (;;) {
		log_prefix("%s", "");
		ret = load->connection(load->shared, options, load->patience,
				       &hello);
		if (ret != CONN_FULL)
			return ret;
		if (refusals++ == options->tries)
			break;
		ms = retry_pause_ms(refusals);
		log_line("server full (%u of %u); again in %.2f s, %u of %u.",
			 hello.connected, hello.max, ms / 1e3, refusals,
			 options->tries);
		if (retry_wait(ms, load->patience))
			return -1;
	}
	log_fail("server full (%u of %u); come again later, or let -r do it",
		 hello.connected, hello.max);
	return CONN_FULL;
}

/* Whether the program is asked to stop, within so many milliseconds. */
static bool is_stopped(const struct patience *patience, int ms)
{
	return wait_readable(-1, -1, patience->stop_fd, wait_deadline(ms)) <
		       0 &&
	       errno == ECANCELED;
}

static void *run(void *argument)
{
	struct load *load = argument;
	unsigned int left = load->options->cycles, failures = 0;

	while (left) {
		/* A server that has just failed us is not asked again at once. */
		int ret, pause = failures ? retry_pause_ms(failures) : 0;

		if (is_stopped(load->patience, pause))
			break;
		ret = connect_patiently(load);
		failures = ret ? failures + 1 : 0;
		left--;
		pthread_mutex_lock(&load->lock);
		load->served += ret == 0;
		load->refused += ret == CONN_FULL;
		load->failed += ret < 0;
		pthread_mutex_unlock(&load->lock);
	}
	pthread_mutex_lock(&load->lock);
	load->unmade += left;
	pthread_mutex_unlock(&load->lock);
	return NULL;
}

/* Starts the threads; returns how many, having said why not all. */
static unsigned int start(struct load *load, pthread_t *threads)
{
	pthread_attr_t attr;
	unsigned int n = 0;
	int err = pthread_attr_init(&attr);

	if (!err)
		err = pthread_attr_setstacksize(&attr, STACK_SIZE);
	if (err) {
		log_fail_errno("pthread_attr_init", err, "no memory");
		return 0;
	}
	while (n < load->options->clients) {
		err = pthread_create(&threads[n], &attr, run, load);
		if (err) {
			log_fail_errno("pthread_create", err,
				       "%u connections instead of %u; see "
				       "\"ulimit -u\"",
				       n, load->options->clients);
			break;
		}
		n++;
	}
	pthread_attr_destroy(&attr);
	return n;
}

/* Nanoseconds on the monotonic clock. */
static uint64_t now_ns(void)
{
	struct timespec now;

	/* Fails only for an unknown clock or a bad address: not here. */
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

static void print_sum(const struct load *load, uint64_t ns)
{
	unsigned int count = load->served + load->refused + load->failed;

	if (load->unmade)
		log_line("asked to stop: connections that were not made: %u.",
			 load->unmade);
	if (count < 2)
		return;
	log_line("%u connections: %u served, %u refused, %u failed; in %.2f s, "
		 "%.1f connections/s",
		 count, load->served, load->refused, load->failed, ns / 1e9,
		 load->served * 1e9 / ns);
}

int load_run(int (*connection)(struct shared *, const struct options *,
			       const struct patience *, struct hello *),
	     struct shared *shared, const struct options *options,
	     const struct patience *patience)
{
	struct load load = {
		.connection = connection,
		.shared = shared,
		.options = options,
		.patience = patience,
		.lock = PTHREAD_MUTEX_INITIALIZER,
	};
	unsigned long wanted =
		DESCRIPTORS_BASE +
		(unsigned long)options->clients * DESCRIPTORS_PER_CLIENT;
	unsigned long given = descriptors_raise(wanted);
	uint64_t begin = now_ns();
	pthread_t *threads;
	unsigned int n;

	if (given && given < wanted)
		log_fail("-c %u needs %lu descriptors; see \"ulimit -Hn\"",
			 options->clients, wanted);
	if (given < wanted)
		return -1;
	threads = calloc(options->clients, sizeof(*threads));
	if (!threads)
		return log_fail_errno("calloc", errno, "-c %u",
				      options->clients);
	n = start(&load, threads);
	for (unsigned int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	free(threads);
	log_prefix("%s", "");
	print_sum(&load, now_ns() - begin);
	return n < options->clients || load.refused || load.failed ||
			       load.unmade ?
		       -1 :
		       0;
}
