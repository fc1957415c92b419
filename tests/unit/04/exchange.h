/*
 * exchange.h - how chapter 04's two ends begin
 */
#ifndef EXCHANGE_H
#define EXCHANGE_H

#include "oob.h"

static inline struct oob *accept_client(struct oob *listener,
					const struct patience *patience)
{
	return oob_accept(listener, patience);
}

static inline struct oob *connect_to_server(const struct options *options,
					    const struct patience *patience)
{
	return oob_connect(options, patience);
}

#endif
