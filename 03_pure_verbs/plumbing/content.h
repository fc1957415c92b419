/*
 * content.h - what is written or read, and whether it has come whole
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
 * Looks at every byte of what the peer wrote, or of what we read from it;
 * counts: says how many there are. Returns 0, or -1 having said what is wrong.
 */
int content_check(const struct region *result, bool counts);

#endif
