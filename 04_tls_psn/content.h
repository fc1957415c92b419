/*
 * content.h - what is written or read, and whether it arrived intact
 */
#ifndef CONTENT_H
#define CONTENT_H

#include <stdbool.h>

#include "data.h"

/*
 * Puts a message from who where the peer will find it: into what we write to
 * it, or into what it reads from us. The rest of that memory has a pattern.
 */
void content_write(const struct data *data, enum mode mode, const char *who);

/*
 * Prints the text that begins what the peer wrote into our memory, or what we
 * read from the peer's, and checks every byte of it. counts: also prints how
 * many bytes there are. Returns 0, or -1 after reporting what is wrong.
 */
int content_check(const struct data *data, enum mode mode, bool counts);

#endif
