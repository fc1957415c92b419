/*
 * test_08_guests.c - what is said of a guest that takes too long, and who is found
 */
#include "guests.h"

#include "log.h"
#include "test.h"

/* One whose flush never ends, ends the server; what it says afterwards is its own. */
TEST(flush)
{
	struct loop loop = { .now = 5000 };
	struct guests guests = { .loop = &loop,
				 .timeouts[GUEST_LEAVES] = 4000 };
	struct shared shared = { .served = 5000 };
	struct guest guest = { .state = GUEST_LEAVES,
			       .talk = { .shared = &shared, .pending = 1 },
			       .number = 7,
			       .deadline = 5000 };
	int ret;

	guests_open(&guests);
	TAILQ_INSERT_TAIL(&guests.lists[GUEST_LEAVES], &guest, link);
	ret = CAPTURED(guests_turn(&guests));
	assert_int_equal(ret, -1);
	assert_one_line(said.err, "error: Client 7: the flush of all posted "
				  "requests: nothing came within 4 s");
	CAPTURED((log_line("all is over"), 0));
	assert_string_equal(said.out, "all is over\n");
}

/* Members are found by their number, and only those that are there. */
TEST(found)
{
	static struct shared shared;
	struct member members[4] = { 0 };

	assert_null(shared_find(&shared, 5));
	/* Three in one bucket, and one in another. */
	for (int i = 0; i < 3; i++)
		shared_add(&shared, &members[i], 5 + i * BUCKETS);
	shared_add(&shared, &members[3], 6);
	for (int i = 0; i < 3; i++)
		assert_ptr_equal(shared_find(&shared, 5 + i * BUCKETS),
				 &members[i]);
	assert_ptr_equal(shared_find(&shared, 6), &members[3]);
	assert_null(shared_find(&shared, 5 + 3 * BUCKETS));
	assert_int_equal(shared.member_count, 4);
	shared_remove(&shared, &members[1]);
	assert_null(shared_find(&shared, 5 + BUCKETS));
	assert_ptr_equal(shared_find(&shared, 5 + 2 * BUCKETS), &members[2]);
	assert_ptr_equal(shared_find(&shared, 5), &members[0]);
	/* What is not there can be removed again. */
	shared_remove(&shared, &members[1]);
	assert_int_equal(shared.member_count, 3);
}
