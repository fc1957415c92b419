/*
 * test.c - runs the tests of a program: see test.h
 */
#define _GNU_SOURCE
#include "test.h"

#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 64

static struct CMUnitTest tests[MOST];
static size_t count;

void test_add(struct CMUnitTest test)
{
	if (count == MOST) {
		fputs("more tests than MOST in test.c\n", stderr);
		exit(EXIT_FAILURE);
	}
	tests[count++] = test;
}

int main(void)
{
	struct CMUnitTest all[count + 1];

	if (count == 0 || !setlocale(LC_CTYPE, "C.UTF-8")) {
		fputs("no test, or no such locale\n", stderr);
		return EXIT_FAILURE;
	}
	memcpy(all, tests, sizeof(all));
	return _cmocka_run_group_tests(program_invocation_short_name, all,
				       count, NULL, NULL);
}
