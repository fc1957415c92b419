/*
 * pattern.h - bytes that can be checked, after the text that each side writes
 */
#ifndef PATTERN_H
#define PATTERN_H

#include <stddef.h>

/* The least memory: room for the text, its zero and some bytes to check. */
#define PATTERN_MIN 64

/* Fills the size bytes of buf from the end of the text in it. */
void pattern_fill(char *buf, size_t size);

/*
 * Checks every byte of what pattern_fill() made on the other side. Returns 0,
 * or -1 after reporting the first that is wrong.
 */
int pattern_check(const char *buf, size_t size);

#endif
