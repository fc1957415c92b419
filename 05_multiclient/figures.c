/*
 * figures.c - who is let in, and what became of each client
 */
#include "figures.h"

#include <errno.h>
#include <signal.h>

#include <sys/signalfd.h>

#include "log.h"

void figures_arrive(struct figures *figures)
{
	pthread_mutex_lock(&figures->lock);
	figures->strangers++;
	pthread_mutex_unlock(&figures->lock);
}

void figures_let_in(struct figures *figures, struct hello *hello)
{
	*hello = (struct hello){ .max = figures->max };
	pthread_mutex_lock(&figures->lock);
	figures->strangers--;
	/* Look and take in one go: two must not take the last place. */
	if (figures->connected < figures->max) {
		figures->connected++;
		hello->number = ++figures->number;
	} else {
		figures->refused++;
	}
	hello->connected = figures->connected;
	pthread_mutex_unlock(&figures->lock);
}

void figures_leave(struct figures *figures, enum step step)
{
	pthread_mutex_lock(&figures->lock);
	if (step == STEP_HANDSHAKE)
		figures->strangers--;
	else
		figures->connected--;
	figures->left[step]++;
	pthread_mutex_unlock(&figures->lock);
}

struct figures figures_now(struct figures *figures)
{
	struct figures now;

	pthread_mutex_lock(&figures->lock);
	now = *figures;
	pthread_mutex_unlock(&figures->lock);
	return now;
}

unsigned int figures_failed(const struct figures *figures)
{
	unsigned int sum = 0;

	for (int step = 0; step < STEP_DONE; step++)
		sum += figures->left[step];
	return sum;
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

static void print_held(const struct devices *devices)
{
	int pds = 0, cqs = 0, qps = 0, mrs = 0;

	for (unsigned int i = 0; i < devices->count; i++) {
		const struct held *held = &devices->list[i].held;

		pds += held->pds;
		cqs += held->cqs;
		qps += held->qps;
		mrs += held->mrs;
	}
	log_line("[figures] objects held: %d PDs, %d CQs, %d QPs, %d MRs", pds,
		 cqs, qps, mrs);
}

void figures_print(struct figures *figures, const struct devices *devices)
{
	/* Printing may take its time: not with the lock. */
	struct figures now = figures_now(figures);
	const unsigned int *left = now.left;

	log_line("[figures] connected: %u of %u; shaking hands: %u",
		 now.connected, now.max, now.strangers);
	log_line("[figures] served: %u; refused: %u; failed: %u",
		 left[STEP_DONE], now.refused, figures_failed(&now));
	log_line("[figures] failed at: handshake %u, exchange %u, objects %u, "
		 "echo %u, transfer %u, goodbye %u",
		 left[STEP_HANDSHAKE], left[STEP_EXCHANGE], left[STEP_OBJECTS],
		 left[STEP_ECHO], left[STEP_TRANSFER], left[STEP_GOODBYE]);
	print_held(devices);
}
