/*
 * opened.h - what chapter 05 says of a device that it has opened
 */
#ifndef OPENED_H
#define OPENED_H

#include <stdio.h>

static inline const char *opened_line(const char *name, int port)
{
	static char line[128];

	/* The port is not named. */
	(void)port;
	snprintf(line, sizeof(line), "Opened shared RDMA device: %s\n", name);
	return line;
}

#endif
