/*
 * late.c - who takes too long
 */
#include "late.h"

#include "log.h"

/* The first in a list is too late. Returns 0, or -1 after reporting why. */
static int expire(struct guests *guests, struct guest *guest)
{
	double seconds = guests->timeouts[guest->state] / 1000.0;
	int ret = 0;

	log_prefix("Client %u: ", guest->number);
	switch (guest->state) {
	case GUEST_LEAVES:
		/* That event may never come. */
		guest->on_hub.last = true;
		guests_move(guests, guest, GUEST_LEAVES);
		if (!guest->conn.pending)
			break;
		ret = log_fail(
			"the flush of all posted requests: nothing came within %g s; the device is unusable",
			seconds);
		break;
	case GUEST_GREETS:
		log_fail(
			"the transfer: nothing came within %g s; is the peer alive, and is -t long enough for it [docs/troubleshooting.md#silent]",
			seconds);
		break;
	case GUEST_TAKES:
		log_fail(
			"an answer was not taken within %g s; the client is sent away [docs/troubleshooting.md#silent]",
			seconds);
		break;
	case GUEST_ENDS:
		break;
	default:
		log_fail(
			"a request: nothing came within %g s; the client is sent away [docs/troubleshooting.md#silent]",
			seconds);
	}
	if (!ret)
		guests_leave(guests, guest);
	log_prefix("%s", "");
	return ret;
}

int late_on_time(void *owner)
{
	struct guests *guests = owner;
	int budget = GUESTS_BUDGET;

	for (int state = 0; state < GUEST_STATES; state++) {
		struct guest *guest;

		while ((guest = list_first(&guests->lists[state])) &&
		       guest->deadline <= guests->loop->now && budget) {
			/* What it sent in time may be in the CQ. */
			if (guest->hub->served < guest->deadline) {
				guest->hub->busy = true;
				break;
			}
			if (expire(guests, guest))
				return -1;
			budget = loop_left(guests->loop, budget - 1);
		}
		if (guest)
			loop_alarm(guests->loop, guest->deadline);
	}
	return 0;
}
