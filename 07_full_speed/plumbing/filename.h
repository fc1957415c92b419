/*
 * filename.h - names of files: which are taken from a stranger, and how they are shown
 *
 * Both need LC_CTYPE to be UTF-8, as after setlocale().
 */
#ifndef FILENAME_H
#define FILENAME_H

#include <stdbool.h>
#include <stddef.h>

/* The longest name, so that what is put around it fits. */
#define FILENAME_MAX_BYTES 200

/* Enough for what is shown of a name or a path. */
#define FILENAME_SHOWN 512

/*
 * Whether a file may have that name. It stays in its folder, is not hidden, is no
 * option to a program that gets it as an argument, and does nothing to a terminal.
 */
bool filename_is_good(const char *name, size_t length);

/*
 * A name or path as text that is safe on a terminal: control characters, and bytes
 * that are no UTF-8, as \xNN. What does not fit is cut off.
 */
void filename_show(const char *name, char shown[FILENAME_SHOWN]);

/*
 * Whether the paths, count of them, have different names behind their last slashes.
 * Returns 0, or -1 having said which two have the same.
 */
int filename_check_all(char *const *paths, unsigned int count);

/* The name behind the last slash of path. */
const char *filename_of(const char *path);

#endif
