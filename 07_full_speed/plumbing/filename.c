/*
 * filename.c - names of files: which ones we accept, and how we show them
 */
#include "filename.h"

#include <stdio.h>
#include <stdlib.h>
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

static int compare(const void *a, const void *b)
{
	return strcmp(filename_of(*(char *const *)a),
		      filename_of(*(char *const *)b));
}

int filename_check_all(char *const *paths, unsigned int count)
{
	char **sorted = malloc(count * sizeof(*sorted));
	char one[FILENAME_SHOWN], two[FILENAME_SHOWN];
	int ret = 0;

	if (!sorted)
		return log_fail("malloc: no memory for %u names", count);
	memcpy(sorted, paths, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), compare);
	for (unsigned int i = 1; i < count && !ret; i++)
		if (!compare(&sorted[i - 1], &sorted[i])) {
			filename_show(sorted[i - 1], one);
			filename_show(sorted[i], two);
			ret = log_fail(
				"%s and %s: the server could keep only one file of that name; send them one at a time, into different folders",
				one, two);
		}
	free(sorted);
	return ret;
}
