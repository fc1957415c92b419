/*
 * retry.c - when to try again where a server was full, or failed
 */
#include "retry.h"

#include <errno.h>
#include <stdint.h>
#include <sys/random.h>

int retry_pause_ms(unsigned int refusals)
{
	int pause = RETRY_FIRST_MS;
	uint32_t random;

	for (unsigned int i = 1; i < refusals && pause < RETRY_LONGEST_MS; i++)
		pause *= 2;
	if (pause > RETRY_LONGEST_MS)
		pause = RETRY_LONGEST_MS;
	/* Without a random number: the longest time, which is safe. */
	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return pause;
	return pause / 2 + random % (pause / 2 + 1);
}

int retry_wait(int ms, const struct patience *patience)
{
	if (wait_readable(-1, -1, patience->stop_fd, wait_deadline(ms)) < 0 &&
	    errno == ETIMEDOUT)
		return 0;
	return wait_fail("room on the server", errno, patience);
}
