/*
 * msg_bytes.h - chapter 03's message as bytes
 *
 * Written down by hand from the layout in msg.c.
 */
#ifndef MSG_BYTES_H
#define MSG_BYTES_H

#include "msg_test.h"

static const struct sample samples[] = {
	{ MSG_DONE, { 'R', 'D', 'M', 'A', 3, 2 }, 0x00c0 },
};

#endif
