/*
 * capture.h - what a function writes to stdout and stderr
 *
 * Nothing between capture_start() and capture_stop() may fail an assertion:
 * its message would be captured as well.
 */
#ifndef CAPTURE_H
#define CAPTURE_H

#include <stddef.h>

#define CAPTURE_SIZE 8192

/* Both with a terminating zero, which the length does not count. */
struct captured {
	char out[CAPTURE_SIZE];
	size_t out_length;
	char err[CAPTURE_SIZE];
};

/* For a program's capture_stop(). */
extern struct captured said;

/* From now on, stdout and stderr go to a file. */
void capture_start(void);

/* stdout and stderr are as before; *captured is what was written. */
void capture_stop(struct captured *captured);

/* Both around one statement; or around one call, whose value it is. */
#define CAPTURE(statement)           \
	do {                         \
		capture_start();     \
		statement;           \
		capture_stop(&said); \
	} while (0)
#define CAPTURED(call)                  \
	({                              \
		__typeof__(call) value; \
		CAPTURE(value = call);  \
		value;                  \
	})

/* Fails the test unless text is one whole line that contains part. */
void assert_one_line(const char *text, const char *part);

#endif
