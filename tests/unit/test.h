/*
 * test.h - what each unit test is made of
 *
 *	TEST(name) { ... }			a test; `state` is cmocka's
 *	TEST_AROUND(name, before, after) {...}	with a function before and one after it,
 *						either of which may be NULL
 *
 * The program runs its tests in the order in which they stand in its source: main()
 * is in test.c. As in the chapters' programs, what is printable depends on the locale.
 */
#ifndef TEST_H
#define TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "capture.h"

#define TEST(name) TEST_AROUND(name, NULL, NULL)

/* The constructor runs before main(). */
#define TEST_AROUND(name, before, after)                                     \
	static void test_##name(void **state);                               \
	__attribute__((constructor)) static void add_##name(void)            \
	{                                                                    \
		test_add((struct CMUnitTest)cmocka_unit_test_setup_teardown( \
			test_##name, before, after));                        \
	}                                                                    \
	static void test_##name(__attribute__((unused)) void **state)

void test_add(struct CMUnitTest test);

#endif
