/*
 * conn_ends.h - what chapter 05's conn.c asks of the exchange, and never here
 */
#ifndef CONN_ENDS_H
#define CONN_ENDS_H

#include "oob.h"
#include "shared.h"

struct oob *oob_connect(const struct oob *prepared,
			const struct options *options,
			const struct patience *patience, struct hello *hello)
{
	(void)prepared;
	(void)options;
	(void)patience;
	(void)hello;
	return NULL;
}

int oob_print_peer(const struct oob *oob)
{
	(void)oob;
	return 0;
}

const struct device *shared_device(struct shared *shared,
				   const struct options *options,
				   const struct sockaddr *local)
{
	(void)shared;
	(void)options;
	(void)local;
	return NULL;
}

/* What a connection needs before all else. */
static void prepare(struct conn *conn)
{
	static struct held held;

	conn->held = &held;
}

#endif
