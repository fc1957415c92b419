/*
 * conn_ends.h - what chapter 03's conn.c asks of the exchange, and never here
 */
#ifndef CONN_ENDS_H
#define CONN_ENDS_H

#include "oob.h"

struct oob *oob_accept(struct oob *listener, const struct patience *patience)
{
	(void)listener;
	(void)patience;
	return NULL;
}

struct oob *oob_connect(const struct options *options,
			const struct patience *patience)
{
	(void)options;
	(void)patience;
	return NULL;
}

/* What a connection needs before all else. */
static inline void prepare(struct conn *conn)
{
	(void)conn;
}

#endif
