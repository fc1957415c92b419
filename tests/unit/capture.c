/*
 * capture.c - what a function writes to stdout and stderr
 *
 * A call that fails here leaves nothing to test: the program ends.
 */
#define _GNU_SOURCE
#include "capture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/mman.h>

#include <cmocka.h>

struct captured said;

/* Indexed by descriptor: 1 is stdout, 2 is stderr. */
static FILE *files[3];
static int saved[3];

static void check(int ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	exit(EXIT_FAILURE);
}

static void redirect(int fd)
{
	files[fd] = fdopen(memfd_create("captured", MFD_CLOEXEC), "w+");
	check(files[fd] != NULL, "memfd_create");
	saved[fd] = dup(fd);
	check(saved[fd] >= 0, "dup");
	check(dup2(fileno(files[fd]), fd) == fd, "dup2");
}

static size_t restore(int fd, char text[CAPTURE_SIZE])
{
	size_t length;

	check(dup2(saved[fd], fd) == fd, "dup2");
	check(close(saved[fd]) == 0, "close");
	rewind(files[fd]);
	length = fread(text, 1, CAPTURE_SIZE, files[fd]);
	check(!ferror(files[fd]) && length < CAPTURE_SIZE, "fread");
	text[length] = 0;
	check(fclose(files[fd]) == 0, "fclose");
	return length;
}

void capture_start(void)
{
	check(fflush(stdout) == 0 && fflush(stderr) == 0, "fflush");
	redirect(STDOUT_FILENO);
	redirect(STDERR_FILENO);
}

void capture_stop(struct captured *captured)
{
	check(fflush(stdout) == 0 && fflush(stderr) == 0, "fflush");
	captured->out_length = restore(STDOUT_FILENO, captured->out);
	restore(STDERR_FILENO, captured->err);
}

void assert_one_line(const char *text, const char *part)
{
	const char *end = strchr(text, '\n');

	if (!end || end[1] || end == text)
		fail_msg("not one line: \"%s\"", text);
	if (!strstr(text, part))
		fail_msg("\"%s\" is not in: %s", part, text);
}
