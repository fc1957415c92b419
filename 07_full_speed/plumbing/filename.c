/*
 * filename.c - names of files: which ones we accept, and how we show them
 */
#include "filename.h"

#include <stdio.h>
#include <string.h>
#include <wchar.h>

#include "log.h"

bool filename_is_good(const char *name, size_t length)
{
	wchar_t c;
	size_t n;

	if (length == 0 || length > FILENAME_MAX_BYTES)
		return false;
	/* With a dot in front, it could be a part of another file. */
	if (name[0] == '.' || name[0] == '-' || memchr(name, '/', length))
		return false;
	for (size_t i = 0; i < length; i += n) {
		n = log_shown(&c, name + i, length - i);
		if (n == 0)
			return false;
	}
	return true;
}

void filename_show(const char *name, char shown[FILENAME_SHOWN])
{
	size_t length = strlen(name), at = 0, n;
	wchar_t c;

	/* The longest piece has four bytes, and a zero follows it. */
	for (size_t i = 0; i < length && at + 5 < FILENAME_SHOWN; i += n) {
		n = log_shown(&c, name + i, length - i);
		if (n) {
			memcpy(shown + at, name + i, n);
			at += n;
		} else {
			n = 1;
			at += sprintf(shown + at, "\\x%02x",
				      (unsigned char)name[i]);
		}
	}
	shown[at] = 0;
}

const char *filename_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}
