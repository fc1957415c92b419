/*
 * report.c - a server's figures, when somebody asks for them
 */
#include "report.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include <sys/signalfd.h>

#include "log.h"

int report_signal(int *fd)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	sigaddset(&signals, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &signals, NULL))
		return log_fail_errno("sigprocmask", errno, "SIGUSR1, SIGHUP");
	*fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	if (*fd < 0)
		return log_fail_errno("signalfd", errno, "see \"ulimit -n\"");
	return 0;
}

int report_asked(int fd)
{
	struct signalfd_siginfo info;

	if (read(fd, &info, sizeof(info)) != sizeof(info))
		return 0;
	return info.ssi_signo;
}

unsigned int report_failed(const struct figures *now)
{
	unsigned int sum = 0;

	for (int step = 0; step < STEP_DONE; step++)
		sum += now->left[step];
	return sum;
}

void report_print(struct figures *figures, const struct held *held)
{
	/* Printing may take long, so do not hold the lock. */
	struct figures now = figures_now(figures);
	const unsigned int *left = now.left;

	log_line("[figures] connected: %u of %u; shaking hands: %u",
		 now.connected, now.max, now.strangers);
	log_line("[figures] served: %u; refused: %u; failed: %u",
		 left[STEP_DONE], now.refused, report_failed(&now));
	log_line(
		"[figures] failed at: handshake %u, exchange %u, objects %u, transfer %u, goodbye %u",
		left[STEP_HANDSHAKE], left[STEP_EXCHANGE], left[STEP_OBJECTS],
		left[STEP_TRANSFER], left[STEP_GOODBYE]);
	log_line("[figures] objects held: %d PDs, %d CQs, %d QPs, %d MRs",
		 held->of[HELD_PD], held->of[HELD_CQ], held->of[HELD_QP],
		 held->of[HELD_MR]);
}
