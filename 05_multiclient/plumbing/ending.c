/*
 * ending.c - how a server that has clients comes to its end
 */
#include "ending.h"

#include <errno.h>
#include <unistd.h>

#include <sys/eventfd.h>
#include <sys/signalfd.h>

#include "log.h"
#include "wait.h"

int ending_eventfd(int *fd)
{
	*fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (*fd < 0)
		return log_fail_errno("eventfd", errno, "see \"ulimit -n\"");
	return 0;
}

int ending_open(struct ending *ending)
{
	*ending = (struct ending){
		.deadline = wait_deadline(-1),
		.closing_fd = -1,
		.cut_fd = -1,
	};
	return ending_eventfd(&ending->closing_fd) ||
			       ending_eventfd(&ending->cut_fd) ?
		       -1 :
		       0;
}

void ending_close(struct ending *ending)
{
	if (ending->closing_fd >= 0)
		close(ending->closing_fd);
	if (ending->cut_fd >= 0)
		close(ending->cut_fd);
}

void ending_ask(struct ending *ending, int stop_fd, unsigned int grace)
{
	struct signalfd_siginfo info;

	if (read(stop_fd, &info, sizeof(info)) != sizeof(info))
		return;
	if (ending->asked) {
		log_line("asked again to stop: not waiting any longer.");
		ending->deadline = wait_deadline(0);
		return;
	}
	log_line("asked to stop: no new clients, up to %u s for the others.",
		 grace);
	ending->asked = true;
	ending->deadline = wait_deadline(grace * 1000);
	eventfd_write(ending->closing_fd, 1);
}

void ending_cut(struct ending *ending)
{
	eventfd_write(ending->cut_fd, 1);
	/* Each client has deadlines of its own for what it still has to do. */
	ending->deadline = wait_deadline(-1);
}
