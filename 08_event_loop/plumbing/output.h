/*
 * output.h - lines on stdout and stderr, for which no thread waits long
 */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <stddef.h>

/* How long a full pipe, or a stopped terminal, may keep us waiting. */
#define OUTPUT_STALL_MS 1000

/*
 * Writes a line, which ends with its newline, to fd (1 or 2), whole, whoever
 * else writes. If nobody reads fd, the line is lost after OUTPUT_STALL_MS, and
 * those after it at once; when somebody reads again, a line says how many.
 */
void output_line(int fd, const char *text, size_t length);

#endif
