/*
 * test_08_latency.c - the time that so many of a thousand took at most
 */
#include "latency.h"

#include "test.h"

TEST(ranks)
{
	struct latency latency = { 0 };

	assert_int_equal(latency_open(&latency, 1000), 0);
	assert_int_equal(latency_of(&latency, 500), 0);
	for (int i = 1000; i > 0; i--)
		latency_add(&latency, i * INT64_C(1000));
	/* There is room for no more. */
	latency_add(&latency, 77);
	latency_sort(&latency);
	assert_int_equal(latency_of(&latency, 500), 500);
	assert_int_equal(latency_of(&latency, 990), 990);
	assert_int_equal(latency_of(&latency, 999), 999);
	assert_int_equal(latency_of(&latency, 1000), 1000);
	latency_close(&latency);
}

TEST(few)
{
	struct latency latency = { 0 };

	assert_int_equal(latency_open(&latency, 3), 0);
	latency_add(&latency, 3000);
	latency_add(&latency, 1000);
	latency_add(&latency, 2000);
	latency_sort(&latency);
	assert_int_equal(latency_of(&latency, 500), 2);
	assert_int_equal(latency_of(&latency, 999), 3);
	latency_close(&latency);
}
