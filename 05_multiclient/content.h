/*
 * content.h - what is written or read, and whether it arrived intact
 */
#ifndef CONTENT_H
#define CONTENT_H

#include <stdbool.h>

#include "data.h"

/* Who writes, before the client's number. */
#define CONTENT_SERVER "passive/server side to"
#define CONTENT_CLIENT "active/client side,"

/*
 * Puts a message from who, to or from the client with number, where the peer
 * will find it: into what we write to it, or into what it reads from us. The rest
 * of that memory has a pattern.
 */
void content_write(const struct data *data, enum mode mode, const char *who,
		   unsigned int number);

/*
 * Prints the text that begins what the peer wrote into our memory, or what we
 * read from its. Checks every byte of that, and that it is from who, and for
 * this number. counts: prints how many bytes there are. Returns 0, or
 * -1 after reporting what is wrong.
 */
int content_check(const struct data *data, enum mode mode, bool counts,
		  const char *who, unsigned int number);

#endif
