/*
 * folder.h - the folder that files go to: what may go there, and what is there
 */
#ifndef FOLDER_H
#define FOLDER_H

#include <stdbool.h>
#include <stdint.h>

#include "pulse.h"

/* A part that nobody has continued for that long is removed. */
#define FOLDER_PART_HOURS 24

struct folder {
	int fd; /* -1: no files are taken */
	uint64_t most; /* bytes that all files there may take together */
	uint64_t used; /* what they took at the last look */
	bool known; /* used is; otherwise somebody must look */
};

/* Opens the folder name, if not NULL. Returns 0, or -1 after reporting why. */
int folder_open(struct folder *folder, const char *name);
void folder_close(struct folder *folder);

/*
 * Counts the bytes of the files there, and removes old parts, which it logs.
 * Returns 0, -1 after reporting why, or 1 if the pulse ends that.
 */
int folder_look(struct folder *folder, const struct pulse *pulse);

/* What a file of size bytes counts for: an empty one has a name and a place, too. */
uint64_t folder_share(uint64_t size);

#endif
