/*
 * test_05_retry.c - how long a client waits before it tries again
 */
#include "retry.h"

#include "test.h"

/* The pause doubles up to the longest, and at least half of it is waited for. */
TEST(pause)
{
	int pause = RETRY_FIRST_MS;

	for (unsigned int failures = 1; failures < 40; failures++) {
		for (int i = 0; i < 100; i++)
			assert_in_range(retry_pause_ms(failures), pause / 2,
					pause);
		pause *= 2;
		if (pause > RETRY_LONGEST_MS)
			pause = RETRY_LONGEST_MS;
	}
}
