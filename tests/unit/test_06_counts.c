/*
 * test_06_counts.c - the server of chapter 06 notices what is missing or double
 */
#include "counts.h"

#include <string.h>

#include <arpa/inet.h>
#include "test.h"
static struct counts counts;

static struct sockaddr_in sender(int port)
{
	return (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(0xc0000202),
		.sin_port = htons(port),
	};
}

static void number(int port, uint32_t n)
{
	struct sockaddr_in from = sender(port);

	counts_number(&counts, &from, n);
}

static void forget(int port)
{
	struct sockaddr_in from = sender(port);

	counts_forget(&counts, &from);
}

static void assert_text(int port, const char *text)
{
	struct sockaddr_in from = sender(port);
	char found[COUNTS_TEXT];

	assert_int_equal(counts_text(&counts, &from, found), strlen(text));
	assert_string_equal(found, text);
}

static int setup(void **state)
{
	(void)state;
	memset(&counts, 0, sizeof(counts));
	return 0;
}

TEST_AROUND(in_order, setup, NULL)
{
	assert_text(1, "no numbered messages");
	for (uint32_t n = 0; n < 5; n++)
		number(1, n);
	assert_text(1, "5 messages, all of them, in order");
	/* 0 begins anew. */
	number(1, 0);
	assert_text(1, "1 messages, all of them, in order");
}

TEST_AROUND(lost_doubled_late, setup, NULL)
{
	number(1, 0);
	number(1, 3);
	assert_text(1, "2 messages; missed: 2, doubled or late: 0");
	number(1, 1);
	number(1, 3);
	assert_text(1, "4 messages; missed: 2, doubled or late: 2");
	/* The first one is lost, too, if it is not 0. */
	number(2, 1);
	assert_text(2, "1 messages; missed: 1, doubled or late: 0");
}

TEST_AROUND(senders_are_apart, setup, NULL)
{
	for (uint32_t n = 0; n < 3; n++)
		for (int port = 1; port <= COUNTS_SENDERS; port++)
			number(port, n);
	for (int port = 1; port <= COUNTS_SENDERS; port++)
		assert_text(port, "3 messages, all of them, in order");
	/* For one more there is no place, and that is no total. */
	number(COUNTS_SENDERS + 1, 0);
	number(COUNTS_SENDERS + 1, 1);
	assert_text(
		COUNTS_SENDERS + 1,
		"not counted: 64 others are being counted, and have not said goodbye");
	for (int port = 1; port <= COUNTS_SENDERS; port++)
		assert_text(port, "3 messages, all of them, in order");
	forget(2);
	assert_text(2, "no numbered messages");
	number(COUNTS_SENDERS + 1, 0);
	assert_text(COUNTS_SENDERS + 1, "1 messages, all of them, in order");
	assert_text(1, "3 messages, all of them, in order");
	assert_text(3, "3 messages, all of them, in order");
}

/* A place that nobody has is not that of 0.0.0.0 port 0, nor of port 0. */
TEST_AROUND(nobody, setup, NULL)
{
	struct sockaddr_in from = { .sin_family = AF_INET };
	char found[COUNTS_TEXT];

	number(1, 0);
	counts_text(&counts, &from, found);
	assert_string_equal(found, "no numbered messages");
}
