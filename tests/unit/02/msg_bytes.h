/*
 * msg_bytes.h - chapter 02's messages as bytes
 *
 * Written down by hand from the layout in msg.c.
 */
#ifndef MSG_BYTES_H
#define MSG_BYTES_H

#include "msg_test.h"
#include "msg_check.h"

static const struct sample samples[] = {
	{ MSG_MR,
	  { 'R',  'D',	'M',  'A',  1,	  1,	2,    0,
	    0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88,
	    0xde, 0xad, 0xbe, 0xef, 0x00, 0x00, 0x04, 0x00 },
	  0x000080 },
	{ MSG_DONE, { 'R', 'D', 'M', 'A', 1, 2 }, 0xffffc0 },
};

/* Which of them speak of memory, and the last mode that there is. */
#define WITH_MEMORY 1
#define LAST_MODE MODE_READ
static const int with_memory_at[WITH_MEMORY] = { 0 };

#endif
