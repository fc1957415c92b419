/*
 * reconnect.c - when to come back after a connection broke
 */
#include "reconnect.h"

#include <errno.h>
#include <stdint.h>

#include <sys/random.h>

#include "log.h"
#include "wait.h"

/* How long to wait before the next connection, at first and at most; in ms. */
#define PAUSE_MS 250
#define PAUSE_LONGEST_MS 8000

/*
 * Twice as long each time. Half of that is random, or all that a server has lost
 * would come back at the same moment.
 */
static int pause_ms(unsigned int failed)
{
	uint32_t random;
	int ms = PAUSE_MS;

	for (unsigned int i = 1; i < failed && ms < PAUSE_LONGEST_MS; i++)
		ms *= 2;
	/* Without a random number: the longest time, which is safe. */
	if (getrandom(&random, sizeof(random), 0) == sizeof(random))
		ms -= random % (ms / 2);
	return ms;
}

bool reconnect_again(struct reconnect *reconnect, int ret, bool got_on)
{
	int ms;

	if (ret != CONNECTION_BROKE)
		return false;
	/* After any progress, there are as many tries as at first. */
	if (got_on)
		reconnect->failed = 0;
	if (reconnect->failed++ == reconnect->tries)
		return false;
	ms = pause_ms(reconnect->failed);
	log_line("the connection broke; again in %.2f s, %u of %u.", ms / 1e3,
		 reconnect->failed, reconnect->tries);
	return wait_readable(-1, -1, reconnect->stop_fd, wait_deadline(ms)) >=
		       0 ||
	       errno != ECANCELED;
}
