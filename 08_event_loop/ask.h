/*
 * ask.h - one request, and its answer
 */
#ifndef ASK_H
#define ASK_H

#include "data.h"

/*
 * Asks for the checksum of data->local and, if writes, for a copy of it. Returns
 * 0, or -1 after reporting why.
 */
int ask_send(struct data *data, bool writes);

/*
 * Checks what came as the answer, in length bytes. Returns 0, or -1 after
 * reporting what is wrong.
 */
int ask_check(const struct data *data, bool writes, const void *wire,
	      size_t length);

/* Asks, and waits for the answer. Returns 0, or -1 after reporting why. */
int ask_run(struct data *data, bool writes);

#endif
