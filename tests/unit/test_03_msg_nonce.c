/*
 * test_03_msg_nonce.c - the number that chapter 03's messages carry
 */
#include "msg.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "msg_bytes.h"
#include "msg_test.h"

static void test_nonces(void **state)
{
	static const uint64_t nonces[] = { 0x1122334455667788, 0, 0xff };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		assert_accepted(samples[i].bytes);
		assert_true(msg.nonce == nonces[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nonces),
	};

	return cmocka_run_group_tests_name(TEST_NAME, tests, NULL, NULL);
}
