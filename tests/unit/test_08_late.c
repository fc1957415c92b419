/*
 * test_08_late.c - what is said of a guest that takes too long
 */
#include "late.h"

#include "log.h"
#include "test.h"

/* One whose flush never ends, ends the server; what it says afterwards is its own. */
TEST(flush)
{
	struct loop loop = { .now = 5000 };
	struct guests guests = { .loop = &loop,
				 .timeouts[GUEST_LEAVES] = 4000 };
	struct hub hub = { .served = 5000 };
	struct guest guest = { .state = GUEST_LEAVES,
			       .hub = &hub,
			       .conn.pending = 1,
			       .number = 7,
			       .deadline = 5000,
			       .link.owner = &guest };
	int ret;

	list_append(&guests.lists[GUEST_LEAVES], &guest.link);
	ret = CAPTURED(late_on_time(&guests));
	assert_int_equal(ret, -1);
	assert_one_line(said.err, "error: Client 7: the flush of all posted "
				  "requests: nothing came within 4 s");
	CAPTURED((log_line("all is over"), 0));
	assert_string_equal(said.out, "all is over\n");
}
