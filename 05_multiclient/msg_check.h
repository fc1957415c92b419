/*
 * msg_check.h - whether both sides do the same
 */
#ifndef MSG_CHECK_H
#define MSG_CHECK_H

#include "msg.h"

/* The word for mode on the command line. */
const char *msg_mode_name(enum mode mode);

/*
 * Whether the peer runs the same mode with as much memory. Both sides know
 * both, so both report a difference. Returns 0, or -1 after reporting what
 * differs.
 */
int msg_check_same(enum mode mine, size_t size, enum mode peer,
		   const struct remote *mem);

#endif
