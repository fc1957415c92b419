/*
 * opened.h - what chapter 03 says of a device that it has opened
 */
#ifndef OPENED_H
#define OPENED_H

#include <stdio.h>

static inline const char *opened_line(const char *name, int port)
{
	static char line[128];

	snprintf(line, sizeof(line), "Opened RDMA device: %s, port %d\n", name,
		 port);
	return line;
}

#endif
