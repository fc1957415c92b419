/*
 * msg_bytes.h - chapter 03's messages as bytes
 *
 * Written down by hand from the layout in msg.c.
 */
#ifndef MSG_BYTES_H
#define MSG_BYTES_H

#include "msg.h"

/* A message, and which of its bytes must be zero: bit i is byte i. */
struct sample {
	enum msg_type type;
	uint8_t bytes[MSG_SIZE];
	uint32_t zeros;
};

static const struct sample samples[] = {
	{ MSG_NONCE,
	  { 'R', 'D', 'M', 'A', 2, 4, 0, 0, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66,
	    0x77, 0x88 },
	  0x00c0 },
	{ MSG_DONE, { 'R', 'D', 'M', 'A', 2, 2 }, 0xffc0 },
	{ MSG_ECHO, { 'R', 'D', 'M', 'A', 2, 5, [15] = 0xff }, 0x00c0 },
};

#endif
