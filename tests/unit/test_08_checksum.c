/*
 * test_08_checksum.c - the published values of FNV-1a
 */
#include "checksum.h"

#include "test.h"

TEST(published)
{
	assert_true(checksum("", 0) == 0xcbf29ce484222325);
	assert_true(checksum("a", 1) == 0xaf63dc4c8601ec8c);
	assert_true(checksum("foobar", 6) == 0x85944171f73967e8);
	assert_true(checksum("\xff", 1) == 0xaf64724c8602eb6e);
}
