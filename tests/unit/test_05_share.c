/*
 * test_05_share.c - no name has more than its share, whoever comes at a time
 */
#include "share.h"

#include <stdbool.h>

#include "test.h"

#define THREADS 8
#define ROUNDS 2000
#define MAX 3

static struct share share = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.max = MAX,
};

TEST(each_its_own)
{
	for (int i = 1; i <= MAX; i++)
		assert_int_equal(share_take(&share, "one"), i);
	assert_int_equal(share_take(&share, "one"), 0);
	/* It does not concern others, and "" is a name, too. */
	assert_int_equal(share_take(&share, "other"), 1);
	assert_int_equal(share_take(&share, ""), 1);
	share_return(&share, "one");
	assert_int_equal(share_take(&share, "one"), MAX);
	for (int i = 1; i <= MAX; i++)
		share_return(&share, "one");
	share_return(&share, "other");
	share_return(&share, "");
	/* Whoever comes and goes under ever new names costs nothing. */
	assert_null(share.first);
}

static void *come_and_go(void *argument)
{
	const char *name = (long)argument % 2 ? "odd" : "even";

	for (int i = 0; i < ROUNDS; i++) {
		int count = share_take(&share, name);

		if (count > MAX)
			return argument;
		if (count)
			share_return(&share, name);
	}
	return NULL;
}

TEST(threads)
{
	pthread_t threads[THREADS];
	void *failed;

	for (long i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, come_and_go,
						(void *)(i + 1)),
				 0);
	for (int i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(threads[i], &failed), 0);
		assert_null(failed);
	}
	assert_null(share.first);
}
