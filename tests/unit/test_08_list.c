/*
 * test_08_list.c - who is first, whoever has left
 */
#include "list.h"

#include "test.h"

TEST(first)
{
	struct list list = { 0 };
	int owners[3];
	struct link links[3];

	assert_null(list_first(&list));
	for (int i = 0; i < 3; i++) {
		links[i] = (struct link){ .owner = &owners[i] };
		list_append(&list, &links[i]);
	}
	/* From the middle, then the end: the first one is still there. */
	list_remove(&list, &links[1]);
	list_remove(&list, &links[2]);
	assert_ptr_equal(list_first(&list), &owners[0]);
	assert_ptr_equal(list.last, &links[0]);
	list_append(&list, &links[2]);
	list_append(&list, &links[1]);
	list_remove(&list, &links[0]);
	assert_ptr_equal(list_first(&list), &owners[2]);
	list_remove(&list, &links[2]);
	assert_ptr_equal(list_first(&list), &owners[1]);
	list_remove(&list, &links[1]);
	assert_null(list_first(&list));
	assert_null(list.last);
}
