/*
 * load.c - many clients in one program, with a thread for each
 *
 * Each of them does what ../client.c does, and all share the open devices.
 */
#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <sys/resource.h>

#include "connection.h"
#include "explain.h"
#include "log.h"
#include "options.h"
#include "pattern.h"
#include "retry.h"
#include "thread.h"

/* A connection has a socket and a completion channel. */
#define DESCRIPTORS 2

/* For stdin and so on, devices, and files that are open for a moment. */
#define DESCRIPTORS_SPARE 64

static struct {
	struct oob_way way;
	struct network network;
	int seconds, bytes, hold;
	int clients, cycles, jobs;
	int mode; /* 0: write, 1: read */
} options = {
	.way = {
		.port = "4433",
		.files = { "certs/client.pem", "certs/client.key",
			   "certs/ca.pem" },
	},
	.network = NETWORK_DEFAULT,
	.seconds = 10,
	/* So that each says that they were verified. */
	.bytes = 1024,
	.clients = 1,
	.cycles = 1,
};

static const struct option_row rows[] = {
	{ 'n', "count", "COUNT", "connections at a time",
	  .number = &options.clients, .min = 1, .max = 100000 },
	{ 'N', "cycles", "COUNT", "make each COUNT times, one after another",
	  .number = &options.cycles, .min = 1, .max = 1000000 },
	{ 'j', "jobs", "COUNT", "how many may be connecting at a time",
	  .number = &options.jobs, .min = 1, .max = 100000,
	  .otherwise = "two for each processor" },
	{ 'a', "address", "ADDRESS", "the server's name or address",
	  .text = &options.way.address },
	{ 'p', "port", "PORT", "the server's port", .digits = &options.way.port,
	  .min = 1, .max = 65535 },
	{ 't', "timeout", "SECONDS", "how long the peer may take for one step",
	  .number = &options.seconds, .min = 1, .max = 3600 },
	{ 'b', "bytes", "BYTES",
	  "memory to write to or read from, the same on both ends",
	  .number = &options.bytes, .min = PATTERN_MIN, .max = 64 << 20 },
	NETWORK_OPTIONS(options.network),
	{ 'C', "cert", "FILE", "our certificate",
	  .text = &options.way.files.cert, .otherwise = "certs/client.pem" },
	{ 'K', "key", "FILE", "its private key", .text = &options.way.files.key,
	  .otherwise = "certs/client.key" },
	{ 'A', "ca", "FILE",
	  "the CA that must have signed the peer's certificate",
	  .text = &options.way.files.ca, .otherwise = "certs/ca.pem" },
	{ 'w', "hold", "SECONDS",
	  "stay connected for SECONDS when everything is done",
	  .number = &options.hold, .max = PLACE_HOLD_MAX },
	{ .value = "write|read", .word = &options.mode },
};

static const char purpose[] =
	"usage: ./load/load [-n COUNT] [-N COUNT] [-j COUNT] -a ADDRESS [OPTION]... write|read\n\n"
	"Does what ./client does, many times.\n\n"
	"example: ./load/load -n 1000 -a 192.0.2.1 -w 60 write";

struct load {
	struct connecting connecting; /* what all connections share */
	pthread_mutex_t lock; /* for what follows */
	unsigned int served, refused, failed;
	unsigned int unmade; /* since the program was asked to stop */
};

/* Whether the program is asked to stop within that many milliseconds. */
static bool is_stopped(const struct load *load, int ms)
{
	return wait_readable(-1, -1, load->connecting.open.patience.stop_fd,
			     wait_deadline(ms)) < 0 &&
	       errno == ECANCELED;
}

/* What each thread does: one connection after another. */
static void *run(void *argument)
{
	struct load *load = argument;
	unsigned int left = options.cycles, failures = 0;

	while (left) {
		/* A server that has just failed us is not asked again at once. */
		int ret, pause = failures ? retry_pause_ms(failures) : 0;

		if (is_stopped(load, pause))
			break;
		ret = connection_run(&load->connecting);
		failures = ret ? failures + 1 : 0;
		left--;
		pthread_mutex_lock(&load->lock);
		load->served += ret == 0;
		load->refused += ret == PLACE_FULL;
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
	unsigned int n = 0, clients = options.clients;

	while (n < clients && !thread_start(&threads[n], run, load,
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

/* As many descriptors as all connections need, and some for the rest. */
static int allow_descriptors(unsigned long wanted)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return explain_call("getrlimit", errno);
	if (limit.rlim_max < wanted)
		return log_fail(
			"-n %d needs %lu descriptors; see \"ulimit -Hn\"",
			options.clients, wanted);
	/* Anybody may raise the soft limit up to the hard one. */
	if (limit.rlim_cur < wanted)
		limit.rlim_cur = wanted;
	return setrlimit(RLIMIT_NOFILE, &limit) ?
		       explain_call("setrlimit", errno) :
		       0;
}

/* Makes all connections, and waits for the end of the last one. */
static int run_all(struct load *load)
{
	unsigned int clients = options.clients, n;
	pthread_t *threads;
	double begin = now_s();

	if (allow_descriptors((unsigned long)clients * DESCRIPTORS +
			      DESCRIPTORS_SPARE))
		return -1;
	threads = calloc(clients, sizeof(*threads));
	if (!threads)
		return explain_call("calloc", errno);
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
	struct load load = {
		.connecting.open.network = &options.network,
		.connecting.way = &options.way,
		.lock = PTHREAD_MUTEX_INITIALIZER,
	};
	struct connecting *connecting = &load.connecting;
	int status = options_parse(rows, purpose, argc, argv);
	int stop_fd = -1, ret = -1;

	if (status != OPTIONS_GO_ON)
		return status;
	if (!options.way.address || options.network.psn >= 0) {
		log_fail(
			options.way.address ?
				"-P is for one connection: ./client has it" :
				"the server's address is missing; give it with -a, as in: ./load/load -a 192.0.2.1 write");
		return EXIT_USAGE;
	}
	connecting->mode = MODE_WRITE + options.mode;
	connecting->bytes = options.bytes;
	connecting->hold = options.hold;
	/* 1. From now on, SIGINT and SIGTERM end the program cleanly. */
	if (wait_for_signals(&stop_fd))
		return EXIT_FAILED;
	connecting->open.patience =
		(struct patience){ options.seconds * 1000, stop_fd };
	/* 2. Open the devices, which all connections share. */
	if (connecting_open(connecting, options.jobs))
		goto out;
	/* 3. Make them, each in its thread. */
	ret = run_all(&load);
out:
	/* 4. Free everything. */
	connecting_close(connecting);
	close(stop_fd);
	return ret ? EXIT_FAILED : EXIT_DONE;
}
