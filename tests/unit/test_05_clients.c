/*
 * test_05_clients.c - what is new for many clients: hello, patterns, retries,
 * descriptors, options
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <getopt.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "capture.h"
#include "admission.h"
#include "descriptors.h"
#include "options.h"
#include "params.h"
#include "pattern.h"
#include "retry.h"

static struct captured said;

static void test_hello(void **state)
{
	static const uint8_t want[] = { 0, 0, 1, 2, 0, 0, 0, 9, 0, 0, 4, 0 };
	const struct hello hello = { 0x102, 9, 1024 };
	uint8_t wire[PARAMS_MAX], header[PARAMS_HEADER];
	struct hello got;

	(void)state;
	assert_int_equal(params_header(PARAMS_HELLO, header), sizeof(want));
	assert_int_equal(params_check_header(PARAMS_HELLO, header), 0);
	assert_int_equal(params_encode_hello(&hello, wire), sizeof(want));
	assert_memory_equal(wire, want, sizeof(want));
	assert_int_equal(params_decode_hello(&got, wire, sizeof(want)), 0);
	assert_memory_equal(&got, &hello, sizeof(got));
	for (size_t length = 0; length < 20; length++) {
		if (length == sizeof(want))
			continue;
		capture_start();
		assert_int_equal(params_decode_hello(&got, wire, length), -1);
		capture_stop(&said);
		assert_one_line(said.err, "instead of 12");
	}
}

static int check(const char *buf, size_t size, enum role role,
		 unsigned int number)
{
	int ret;

	capture_start();
	ret = pattern_check(buf, size, role, number);
	capture_stop(&said);
	return ret;
}

/* Every byte counts, and nobody's pattern passes for another's. */
static void test_pattern(void **state)
{
	char buf[200];

	(void)state;
	pattern_fill(buf, sizeof(buf), ROLE_CLIENT, 3);
	assert_string_equal(buf, "message from active/client side, client 3");
	assert_int_equal(buf[64], 'C');
	assert_int_equal(check(buf, sizeof(buf), ROLE_CLIENT, 3), 0);
	assert_string_equal(said.out, "all 200 bytes are right, letter C.\n");
	for (size_t i = 0; i < sizeof(buf); i++) {
		buf[i] ^= 1;
		assert_int_equal(check(buf, sizeof(buf), ROLE_CLIENT, 3), -1);
		assert_one_line(said.err, "error: byte ");
		buf[i] ^= 1;
	}
	assert_int_equal(check(buf, sizeof(buf), ROLE_SERVER, 3), -1);
	/* The letter comes round again after 26; the text does not. */
	assert_int_equal(check(buf, sizeof(buf), ROLE_CLIENT, 29), -1);
	assert_int_equal(check(buf, sizeof(buf), ROLE_CLIENT, 4), -1);
	pattern_fill(buf, sizeof(buf), ROLE_SERVER, 26);
	assert_int_equal(buf[199], 'z');
	pattern_fill(buf, sizeof(buf), ROLE_SERVER, 27);
	assert_int_equal(buf[199], 'a');
}

/* The pause doubles up to the longest; where in its second half is chance. */
static void test_pause(void **state)
{
	(void)state;
	for (unsigned int refusals = 1; refusals < 40; refusals++) {
		int pause = RETRY_FIRST_MS, low = 0, high = 0;

		for (unsigned int i = 1; i < refusals; i++)
			if (pause < RETRY_LONGEST_MS)
				pause *= 2;
		if (pause > RETRY_LONGEST_MS)
			pause = RETRY_LONGEST_MS;
		for (int i = 0; i < 400; i++) {
			int ms = retry_pause_ms(refusals);

			assert_in_range(ms, pause / 2, pause);
			low += ms < pause * 5 / 8;
			high += ms > pause * 7 / 8;
		}
		/* A quarter each: 100, with a deviation of 9. */
		assert_in_range(low, 20, 180);
		assert_in_range(high, 20, 180);
	}
}

static void test_wait(void **state)
{
	struct patience patience = { .stop_fd = eventfd(0, 0) };
	int ret;

	(void)state;
	assert_true(patience.stop_fd >= 0);
	assert_int_equal(retry_wait(1, &patience), 0);
	assert_int_equal(eventfd_write(patience.stop_fd, 1), 0);
	capture_start();
	ret = retry_wait(60000, &patience);
	capture_stop(&said);
	assert_int_equal(ret, -1);
	assert_one_line(said.err, "asked to stop");
	close(patience.stop_fd);
}

static int fit(rlim_t descriptors, unsigned int *max, unsigned int *shaking)
{
	struct rlimit limit;
	int ret;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = limit.rlim_max = descriptors;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	capture_start();
	ret = admission_descriptors(max, shaking);
	capture_stop(&said);
	return ret;
}

/* Never more than fit; last, since the limit can only go down. */
static void test_limits(void **state)
{
	unsigned int max = 20, shaking = 8;

	(void)state;
	assert_int_equal(fit(80, &max, &shaking), 0);
	assert_int_equal(max, 20);
	assert_int_equal(shaking, 8);
	assert_string_equal(said.out, "");
	for (rlim_t n = 79; n >= DESCRIPTORS_BASE + 6; n--) {
		max = 1000;
		shaking = n % 2 ? 2000 : 20;
		assert_int_equal(fit(n, &max, &shaking), 0);
		assert_true(max >= 1 && shaking >= 4);
		assert_true(shaking == 4 ||
			    shaking <= (n - DESCRIPTORS_BASE) / 4);
		assert_true(DESCRIPTORS_BASE + shaking + 2 * max <= n);
		assert_one_line(said.out, "descriptors: room for ");
	}
	max = 1;
	assert_int_equal(fit(DESCRIPTORS_BASE + 5, &max, &shaking), -1);
	assert_one_line(said.err, "too few for a server");
}

static int parse(struct options *options, enum role role, char **argv)
{
	int argc = 0, ret;

	while (argv[argc])
		argc++;
	optind = 0;
	capture_start();
	ret = options_parse(options, role, argc, argv);
	capture_stop(&said);
	return ret;
}

static void test_options(void **state)
{
	char *server[] = { "server", "-m", "10",  "-g", "0",	 "-e",
			   "25",     "-G", "255", "-1", "write", NULL };
	char *client[] = { "client", "-a", "x",	 "-c",	"1000", "-k",
			   "5",	     "-w", "60", "-r8", "read", NULL };
	struct options options;

	(void)state;
	assert_int_equal(parse(&options, ROLE_SERVER, server), OPTIONS_GO_ON);
	assert_int_equal(options.max, 10);
	assert_int_equal(options.grace, 0);
	assert_int_equal(options.end_after, 1);
	assert_int_equal(options.gid_index, 255);
	assert_int_equal(parse(&options, ROLE_CLIENT, client), OPTIONS_GO_ON);
	assert_int_equal(options.clients, 1000);
	assert_int_equal(options.cycles, 5);
	assert_int_equal(options.hold, 60);
	assert_int_equal(options.tries, 8);
	client[8] = "3601";
	assert_int_equal(parse(&options, ROLE_CLIENT, client), EXIT_USAGE);
	assert_one_line(said.err,
			"-w 3601: give a whole number from 0 to 3600");
	/* What is the other role's is none of ours. */
	assert_int_equal(parse(&options, ROLE_CLIENT, server), EXIT_USAGE);
	assert_one_line(said.err, "-m: no such option here");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hello),	cmocka_unit_test(test_pattern),
		cmocka_unit_test(test_pause),	cmocka_unit_test(test_wait),
		cmocka_unit_test(test_options), cmocka_unit_test(test_limits),
	};

	return cmocka_run_group_tests_name(TEST_NAME, tests, NULL, NULL);
}
