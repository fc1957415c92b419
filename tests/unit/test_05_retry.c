/*
 * test_05_retry.c - when a client tries again
 */

#include "test.h"
#include <sys/eventfd.h>
#include <unistd.h>

#include "retry.h"

/* The pause doubles up to the longest; where in its second half is chance. */
TEST(pause)
{
	for (unsigned int failures = 1; failures < 40; failures++) {
		int pause = RETRY_FIRST_MS, low = 0, high = 0;

		for (unsigned int i = 1; i < failures; i++)
			if (pause < RETRY_LONGEST_MS)
				pause *= 2;
		if (pause > RETRY_LONGEST_MS)
			pause = RETRY_LONGEST_MS;
		for (int i = 0; i < 400; i++) {
			int ms = retry_pause_ms(failures);

			assert_in_range(ms, pause / 2, pause);
			low += ms < pause * 5 / 8;
			high += ms > pause * 7 / 8;
		}
		/* A quarter each: 100, with a deviation of 9. */
		assert_in_range(low, 20, 180);
		assert_in_range(high, 20, 180);
	}
}

static int wait_for_try(unsigned int failures, unsigned int retries, int fd)
{
	const struct patience patience = { .stop_fd = fd };

	return CAPTURED(retry_wait(failures, retries, &patience));
}

/* As often as options say, each time with a word; and not when told to stop. */
TEST(wait)
{
	int fd = eventfd(0, 0);

	assert_true(fd >= 0);
	assert_int_equal(wait_for_try(1, 0, fd), -1);
	assert_string_equal(said.out, "");
	assert_string_equal(said.err, "");
	assert_int_equal(wait_for_try(1, 2, fd), 0);
	assert_one_line(said.out, " s, 1 of 2.");
	assert_int_equal(wait_for_try(2, 2, fd), 0);
	assert_one_line(said.out, " s, 2 of 2.");
	assert_int_equal(wait_for_try(3, 2, fd), -1);
	assert_string_equal(said.out, "");
	assert_int_equal(eventfd_write(fd, 1), 0);
	assert_int_equal(wait_for_try(30, 40, fd), -1);
	assert_one_line(said.err, "asked to stop");
	close(fd);
}
