/*
 * test_08_table.c - entries are found by their number, and only those that are there
 */
#include "table.h"

#include "test.h"

TEST(found)
{
	struct table table = { 0 };
	/* Three in one bucket, and one in another. */
	struct table_entry entries[] = { { .key = 5 },
					 { .key = 5 + 64 },
					 { .key = 5 + 128 },
					 { .key = 6 } };

	assert_int_equal(table_open(&table, 10), 0);
	assert_null(table_find(&table, 5));
	for (int i = 0; i < 4; i++)
		table_add(&table, &entries[i]);
	for (int i = 0; i < 4; i++)
		assert_ptr_equal(table_find(&table, entries[i].key),
				 &entries[i]);
	assert_null(table_find(&table, 5 + 192));
	assert_int_equal(table.count, 4);
	table_remove(&table, &entries[1]);
	assert_null(table_find(&table, 5 + 64));
	assert_ptr_equal(table_find(&table, 5 + 128), &entries[2]);
	assert_ptr_equal(table_find(&table, 5), &entries[0]);
	/* What is not there can be removed again. */
	table_remove(&table, &entries[1]);
	assert_int_equal(table.count, 3);
	table_close(&table);
	assert_null(table_find(&table, 5));
}
