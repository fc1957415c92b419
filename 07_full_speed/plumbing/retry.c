/*
 * retry.c - when to try again what may work later
 */
#include "retry.h"

#include <errno.h>
#include <stdint.h>

#include <sys/random.h>

#include "log.h"

int retry_pause_ms(unsigned int failures)
{
	int pause = RETRY_FIRST_MS;
	uint32_t random;

	for (unsigned int i = 1; i < failures && pause < RETRY_LONGEST_MS; i++)
		pause *= 2;
	if (pause > RETRY_LONGEST_MS)
		pause = RETRY_LONGEST_MS;
	/* Without a random number: the longest time, which is safe. */
	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return pause;
	return pause / 2 + random % (pause / 2 + 1);
}

int retry_wait(unsigned int failures, unsigned int retries,
	       const struct patience *patience)
{
	int ms = retry_pause_ms(failures);

	if (failures > retries)
		return -1;
	log_line("trying again in %.2f s, %u of %u.", ms / 1e3, failures,
		 retries);
	if (wait_readable(-1, -1, patience->stop_fd, wait_deadline(ms)) < 0 &&
	    errno == ETIMEDOUT)
		return 0;
	return wait_fail("the next try", errno, patience);
}
