/*
 * exchange.h - how chapter 05's two ends begin
 */
#ifndef EXCHANGE_H
#define EXCHANGE_H

#include "oob.h"

static inline struct oob *accept_client(struct oob *listener,
					const struct patience *patience)
{
	const struct hello hello = { .number = 1, .connected = 1, .max = 2 };
	struct oob *oob = oob_accept(listener, patience);
	struct turns turns;
	struct turn turn = { .turns = &turns };

	turns_open(&turns);
	if (oob && (oob_handshake(oob, &turn) ||
		    oob_hello(oob, &hello, patience->stop_fd))) {
		oob_close(oob);
		return NULL;
	}
	return oob;
}

static inline struct oob *connect_to_server(const struct options *options,
					    const struct patience *patience)
{
	struct oob *prepared = oob_prepare(options), *oob;
	struct hello hello;
	bool passing;

	oob = prepared ? oob_connect(prepared, options, patience, &hello,
				     &passing) :
			 NULL;
	oob_close(prepared);
	return oob;
}

#endif
