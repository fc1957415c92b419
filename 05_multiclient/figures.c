/*
 * figures.c - what a server counts, and who is let in
 */
#include "figures.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <time.h>

#include <sys/signalfd.h>

#include "log.h"

uint64_t figures_now(void)
{
	struct timespec now;

	/* Fails only for an unknown clock or a bad address: not here. */
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

void figures_start(struct figures *figures, unsigned int max)
{
	*figures = (struct figures){
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.max = max,
	};
}

void figures_arrive(struct figures *figures)
{
	pthread_mutex_lock(&figures->lock);
	figures->shaking++;
	pthread_mutex_unlock(&figures->lock);
}

static void add(struct times *times, uint64_t ns)
{
	times->count++;
	times->sum += ns;
	if (ns > times->max)
		times->max = ns;
}

void figures_handshake(struct figures *figures, bool good, uint64_t ns,
		       struct hello *hello)
{
	pthread_mutex_lock(&figures->lock);
	figures->shaking--;
	*hello = (struct hello){ .max = figures->max };
	if (!good) {
		figures->failed[STEP_HANDSHAKE]++;
	} else {
		add(&figures->handshake, ns);
		/* Look and take in one go: two must not take the last place. */
		if (figures->connected < figures->max) {
			figures->connected++;
			if (figures->connected > figures->peak)
				figures->peak = figures->connected;
			hello->number = ++figures->number;
		} else {
			figures->refused++;
		}
		hello->connected = figures->connected;
	}
	pthread_mutex_unlock(&figures->lock);
}

void figures_setup(struct figures *figures, uint64_t ns)
{
	pthread_mutex_lock(&figures->lock);
	add(&figures->setup, ns);
	pthread_mutex_unlock(&figures->lock);
}

void figures_served(struct figures *figures, size_t in, size_t out)
{
	pthread_mutex_lock(&figures->lock);
	figures->connected--;
	figures->served++;
	figures->bytes_in += in;
	figures->bytes_out += out;
	pthread_mutex_unlock(&figures->lock);
}

void figures_failed(struct figures *figures, enum step step)
{
	pthread_mutex_lock(&figures->lock);
	figures->connected--;
	figures->failed[step]++;
	pthread_mutex_unlock(&figures->lock);
}

unsigned int figures_shaking(struct figures *figures)
{
	unsigned int shaking;

	pthread_mutex_lock(&figures->lock);
	shaking = figures->shaking;
	pthread_mutex_unlock(&figures->lock);
	return shaking;
}

static unsigned int sum_failed(const struct figures *figures)
{
	unsigned int sum = 0;

	for (int step = 0; step < STEP_COUNT; step++)
		sum += figures->failed[step];
	return sum;
}

unsigned int figures_failures(struct figures *figures)
{
	unsigned int failures;

	pthread_mutex_lock(&figures->lock);
	failures = sum_failed(figures);
	pthread_mutex_unlock(&figures->lock);
	return failures;
}

int figures_signal(int *fd)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	if (sigprocmask(SIG_BLOCK, &signals, NULL))
		return log_fail_errno("sigprocmask", errno, "SIGUSR1");
	*fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	if (*fd < 0)
		return log_fail_errno("signalfd", errno, "see \"ulimit -n\"");
	return 0;
}

static double mean_ms(const struct times *times)
{
	return times->count ? times->sum / 1e6 / times->count : 0;
}

void figures_print(struct figures *figures, const struct held *held)
{
	const unsigned int *failed;
	struct figures f;

	/* Printing may take its time: not with the lock. */
	pthread_mutex_lock(&figures->lock);
	f = *figures;
	pthread_mutex_unlock(&figures->lock);
	failed = f.failed;
	log_line("[figures] connected: %u of %u, at most %u; shaking hands: %u",
		 f.connected, f.max, f.peak, f.shaking);
	log_line("[figures] served: %u; refused: %u; failed: %u", f.served,
		 f.refused, sum_failed(&f));
	log_line("[figures] failed at: handshake %u, exchange %u, objects %u, "
		 "echo %u, transfer %u, goodbye %u",
		 failed[STEP_HANDSHAKE], failed[STEP_EXCHANGE],
		 failed[STEP_OBJECTS], failed[STEP_ECHO], failed[STEP_TRANSFER],
		 failed[STEP_GOODBYE]);
	log_line("[figures] bytes in: %" PRIu64 "; bytes out: %" PRIu64,
		 f.bytes_in, f.bytes_out);
	log_line("[figures] handshake: %.1f ms on average, %.1f ms at most",
		 mean_ms(&f.handshake), f.handshake.max / 1e6);
	log_line("[figures] setup: %.1f ms on average, %.1f ms at most",
		 mean_ms(&f.setup), f.setup.max / 1e6);
	log_line("[figures] objects held: %d PDs, %d CQs, %d QPs, %d MRs",
		 held->pds, held->cqs, held->qps, held->mrs);
}
