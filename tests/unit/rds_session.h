/*
 * rds_session.h - a session of chapter 06's client, for the test_06_*.c
 */
#ifndef RDS_SESSION_H
#define RDS_SESSION_H

#include "rds_kernel.h"

#include "session.h"
#include "wait.h"

#define HERE "192.0.2.2"
#define STRANGER "198.51.100.7", 4000
static struct session session;
static struct options options;
static struct patience patience;
static int stop_fd;

/* One server, 192.0.2.1 port 4000, or two, the other at port 4001. */
static void open_session(int servers)
{
	options = (struct options){
		.addresses = { "192.0.2.1:4000", "192.0.2.1:4001" },
		.address_count = servers,
		.local = HERE,
		.port = "4000",
		.transport = RDS_TRANS_NONE,
		.count = 2,
		.bytes = 64,
	};
	patience = (struct patience){ .timeout_ms = 200, .stop_fd = stop_fd };
	assert_int_equal(session_open(&session, &options, &patience), 0);
}

static int setup(void **state)
{
	(void)state;
	kernel_reset();
	stop_fd = eventfd(0, EFD_NONBLOCK);
	assert_true(stop_fd >= 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	session_close(&session);
	close(stop_fd);
	return 0;
}

static int captured(int (*work)(struct session *session))
{
	return CAPTURED(work(&session));
}

/* How often part is in text. */
static inline int times(const char *text, const char *part)
{
	int n = 0;

	for (; (text = strstr(text, part)); text++)
		n++;
	return n;
}

#endif
