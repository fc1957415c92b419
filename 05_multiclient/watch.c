/*
 * watch.c - the asynchronous events of a device
 */
#include "watch.h"

#include <errno.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "log.h"
#include "wait.h"

/* What an event is about, beyond its name, and what to make of it. */
static void print_event(const struct ibv_async_event *event)
{
	const char *name = ibv_event_type_str(event->event_type);

	switch (event->event_type) {
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_COMM_EST:
	case IBV_EVENT_SQ_DRAINED:
	case IBV_EVENT_PATH_MIG:
	case IBV_EVENT_PATH_MIG_ERR:
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		log_line("[async] %s (QPN 0x%06x)", name,
			 event->element.qp->qp_num);
		break;
	case IBV_EVENT_PORT_ACTIVE:
	case IBV_EVENT_PORT_ERR:
	case IBV_EVENT_LID_CHANGE:
	case IBV_EVENT_PKEY_CHANGE:
	case IBV_EVENT_GID_CHANGE:
	case IBV_EVENT_SM_CHANGE:
	case IBV_EVENT_CLIENT_REREGISTER:
		log_line("[async] %s (port_num %d)", name,
			 event->element.port_num);
		break;
	default:
		log_line("[async] %s", name);
	}
}

static void *run(void *argument)
{
	struct watch *watch = argument;
	struct ibv_async_event event;

	while (wait_readable(watch->verbs->async_fd, -1, watch->quit_fd,
			     wait_deadline(-1)) > 0) {
		if (ibv_get_async_event(watch->verbs, &event)) {
			if (errno == EAGAIN)
				continue;
			log_fail_errno("ibv_get_async_event", errno,
				       "no more events will be named");
			break;
		}
		print_event(&event);
		/* ibv_destroy_qp() and its like wait for each one missing. */
		ibv_ack_async_event(&event);
	}
	return NULL;
}

int watch_start(struct watch *watch, struct ibv_context *verbs)
{
	sigset_t all, old;
	int err;

	watch->verbs = verbs;
	if (wait_nonblocking(watch->verbs->async_fd, "ibv_open_device"))
		return -1;
	watch->quit_fd = eventfd(0, EFD_CLOEXEC);
	if (watch->quit_fd < 0)
		return log_fail_errno("eventfd", errno, "see \"ulimit -n\"");
	/* Signals are for the main thread: the new one inherits this mask. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&watch->thread, NULL, run, watch);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (err) {
		close(watch->quit_fd);
		return log_fail_errno("pthread_create", err,
				      "see \"ulimit -u\"");
	}
	watch->runs = true;
	return 0;
}

void watch_stop(struct watch *watch)
{
	if (!watch->runs)
		return;
	/* The first write to an eventfd of our own cannot fail or block. */
	eventfd_write(watch->quit_fd, 1);
	pthread_join(watch->thread, NULL);
	close(watch->quit_fd);
	watch->runs = false;
}
