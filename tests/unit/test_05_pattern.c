/*
 * test_05_pattern.c - each byte of each client's memory is looked at
 */
#include "pattern.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "capture.h"

#define SIZE 5000

static struct captured said;
static char memory[SIZE];

static int check(enum role role, unsigned int number)
{
	int ret;

	capture_start();
	ret = pattern_check(memory, SIZE, role, number);
	capture_stop(&said);
	return ret;
}

static void test_right(void **state)
{
	(void)state;
	pattern_fill(memory, SIZE, ROLE_SERVER, 28);
	assert_int_equal(check(ROLE_SERVER, 28), 0);
	assert_string_equal(said.out, "all 5000 bytes are right, letter b.\n");
	assert_string_equal(said.err, "");
}

/* Whichever byte it is. */
static void test_wrong(void **state)
{
	char part[64];

	(void)state;
	for (size_t i = 0; i < SIZE; i++) {
		pattern_fill(memory, SIZE, ROLE_CLIENT, 1);
		memory[i] ^= 1;
		assert_int_equal(check(ROLE_CLIENT, 1), -1);
		snprintf(part, sizeof(part), "error: byte %zu of the memory is",
			 i);
		assert_one_line(said.err, part);
	}
}

/* Another client's, and those of the other side. */
static void test_others(void **state)
{
	(void)state;
	pattern_fill(memory, SIZE, ROLE_CLIENT, 1);
	assert_int_equal(check(ROLE_CLIENT, 2), -1);
	assert_int_equal(check(ROLE_CLIENT, 27), -1);
	assert_int_equal(check(ROLE_SERVER, 1), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_right),
		cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_others),
	};

	return cmocka_run_group_tests_name(TEST_NAME, tests, NULL, NULL);
}
