/*
 * msg_check.c - whether both sides do the same
 */
#include "msg_check.h"

#include "log.h"

const char *msg_mode_name(enum mode mode)
{
	switch (mode) {
	case MODE_WRITE:
		return "write";
	case MODE_READ:
		return "read";
	}
	return "unknown";
}

int msg_check_same(enum mode mine, size_t size, enum mode peer,
		   const struct remote *mem)
{
	if (peer != mine)
		return log_fail(
			"this side runs %s and the peer %s; start both with the same word [docs/troubleshooting.md#refused]",
			msg_mode_name(mine), msg_mode_name(peer));
	if (mem->length != size)
		return log_fail(
			"this side has %zu bytes of memory and the peer %u; start both with the same -b [docs/troubleshooting.md#refused]",
			size, mem->length);
	return 0;
}
