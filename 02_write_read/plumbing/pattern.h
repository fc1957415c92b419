/*
 * pattern.h - bytes that can be checked, behind the text that each side writes
 */
#ifndef PATTERN_H
#define PATTERN_H

#include <stddef.h>

/* The least memory: the text fits, with its zero and bytes to check it by. */
#define PATTERN_MIN 64

/* Fills buf, of size bytes, behind the text that it begins with. */
void pattern_fill(char *buf, size_t size);

/*
 * Looks at every byte of what pattern_fill() has made on the other side.
 * Returns 0, or -1 after reporting which is the first that is wrong.
 */
int pattern_check(const char *buf, size_t size);

#endif
