/*
 * test.h - what each unit test is made of
 *
 *	TEST(name) { ... }			a test; `state` is cmocka's
 *	TEST_AROUND(name, before, after) {...}	with a function before and one after it,
 *						either of which may be NULL
 *	AROUND_ALL(before, after);		around all tests of the program
 *
 * The program runs its tests in the order in which they stand in its source: main()
 * is in test.c.
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

#define AROUND_ALL(before, after)                                 \
	__attribute__((constructor)) static void around_all(void) \
	{                                                         \
		test_around_all(before, after);                   \
	}

void test_add(struct CMUnitTest test);
void test_around_all(CMFixtureFunction before, CMFixtureFunction after);

#endif
