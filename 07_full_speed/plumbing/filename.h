/*
 * filename.h - names of files: which ones we accept, and how we show them
 *
 * Both need LC_CTYPE to be UTF-8, as after setlocale().
 */
#ifndef FILENAME_H
#define FILENAME_H

#include <stdbool.h>
#include <stddef.h>

/* The longest name: it leaves room for what we put around it. */
#define FILENAME_MAX_BYTES 200

/* Enough for what is shown of a name or a path. */
#define FILENAME_SHOWN 512

/*
 * Whether a file may have that name. Such a name cannot leave its folder, is
 * not hidden, is not an option to a program that gets it as an argument, and is
 * harmless on a terminal.
 */
bool filename_is_good(const char *name, size_t length);

/*
 * A name or path as text that is safe on a terminal: control characters, and
 * bytes that are not UTF-8, as \xNN. What does not fit is cut off.
 */
void filename_show(const char *name, char shown[FILENAME_SHOWN]);

/* The name after the last slash of path. */
const char *filename_of(const char *path);

#endif
