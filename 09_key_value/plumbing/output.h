/*
 * output.h - lines on stdout and stderr, without a long wait for their reader
 */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <stddef.h>

/* How long a full pipe, or a stopped terminal, may keep us waiting. */
#define OUTPUT_STALL_MS 1000

/*
 * Writes a line, newline included, to fd (1 or 2), in one piece whoever else
 * writes. If nobody reads fd, the line is lost after OUTPUT_STALL_MS, and later
 * ones at once; when somebody reads again, a line says how many were lost.
 */
void output_line(int fd, const char *text, size_t length);

#endif
