/*
 * load.c - many clients in one program, with a thread for each
 *
 * Each of them does what ../client.c does. They share what separate clients
 * would each have: certificate, key and CA, which are read once, and
 * the open devices.
 */
#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "connection.h"
#include "allowed.h"
#include "log.h"
#include "retry.h"
#include "thread.h"
#include "words.h"

/* A connection has a socket and a completion channel. */
#define DESCRIPTORS 2

struct load {
	struct words words; /* how many, and how often */
	struct connecting connecting; /* what all connections share */
	pthread_mutex_t lock; /* for what follows */
	unsigned int started; /* connections; the next one's number */
	unsigned int served, refused, failed;
	unsigned int unmade; /* since the program was asked to stop */
};

/* Whether the program is asked to stop within that many milliseconds. */
static bool is_stopped(const struct load *load, int ms)
{
	return wait_readable(-1, -1, load->connecting.patience.stop_fd,
			     wait_deadline(ms)) < 0 &&
	       errno == ECANCELED;
}

static unsigned int take_number(struct load *load)
{
	unsigned int number;

	pthread_mutex_lock(&load->lock);
	number = load->started++;
	pthread_mutex_unlock(&load->lock);
	return number;
}

/* What each thread does: one connection after another. */
static void *run(void *argument)
{
	struct load *load = argument;
	unsigned int left = load->words.cycles, failures = 0;

	while (left) {
		/* A server that has just failed us is not asked again at once. */
		int ret, pause = failures ? retry_pause_ms(failures) : 0;

		if (is_stopped(load, pause))
			break;
		ret = connection_run(&load->connecting, take_number(load));
		failures = ret ? failures + 1 : 0;
		left--;
		pthread_mutex_lock(&load->lock);
		load->served += ret == 0;
		load->refused += ret == CONNECTION_FULL;
		load->failed += ret < 0;
		pthread_mutex_unlock(&load->lock);
	}
	pthread_mutex_lock(&load->lock);
	load->unmade += left;
	pthread_mutex_unlock(&load->lock);
	return NULL;
}

/* Starts the threads; returns how many, after reporting why not all. */
static unsigned int start(struct load *load, pthread_t *threads)
{
	unsigned int n = 0;

	while (n < load->words.clients &&
	       !thread_start(&threads[n], run, load,
			     "fewer connections than -n"))
		n++;
	return n;
}

static double now_s(void)
{
	struct timespec now;

	/* It cannot fail for this clock. */
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

static void print_sum(const struct load *load, double seconds)
{
	unsigned int count = load->served + load->refused + load->failed;

	log_prefix("%s", "");
	if (load->unmade)
		log_line("asked to stop: connections that were not made: %u.",
			 load->unmade);
	if (count < 2)
		return;
	log_line(
		"%u connections: %u served, %u refused, %u failed; in %.2f s, %.1f connections/s",
		count, load->served, load->refused, load->failed, seconds,
		load->served / seconds);
}

/* Makes all connections, and waits for the end of the last one. */
static int run_all(struct load *load)
{
	unsigned int clients = load->words.clients, n;
	unsigned long wanted = (unsigned long)clients * DESCRIPTORS;
	pthread_t *threads = calloc(clients, sizeof(*threads));
	double begin = now_s();

	if (!threads)
		return log_fail_errno("calloc", errno, "-n %u", clients);
	if (allowed_descriptors(wanted) < wanted) {
		free(threads);
		return log_fail(
			"-n %u needs %lu more descriptors; see \"ulimit -Hn\"",
			clients, wanted);
	}
	n = start(load, threads);
	for (unsigned int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	free(threads);
	print_sum(load, now_s() - begin);
	return n < clients || load->refused || load->failed || load->unmade ?
		       -1 :
		       0;
}

int main(int argc, char **argv)
{
	struct load load = { .lock = PTHREAD_MUTEX_INITIALIZER };
	struct options options;
	int stop_fd = -1, ret = -1, status;

	setlocale(LC_CTYPE, "C.UTF-8");
	status = words_parse(&load.words, &options, argc, argv);
	if (status != OPTIONS_GO_ON)
		return status;
	/* 1. From now on, SIGINT and SIGTERM end the program cleanly. */
	if (wait_for_signals(&stop_fd))
		return EXIT_FAILED;
	/* 2. Open what all connections share. */
	if (connecting_open(&load.connecting, &options, load.words.jobs,
			    stop_fd))
		goto out;
	/* 3. Make them, each in its thread. */
	ret = run_all(&load);
out:
	/* 4. Free everything. */
	connecting_close(&load.connecting);
	close(stop_fd);
	return ret ? EXIT_FAILED : EXIT_DONE;
}
