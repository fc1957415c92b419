/*
 * table.h - what the table is made of, how it is written, and how one sees that
 * a copy of a part of it is of one moment
 *
 * Nothing here knows of RDMA. Numbers in the table are big-endian, since the peer
 * reads them. It may read at any moment, and nobody here is told.
 */
#ifndef TABLE_H
#define TABLE_H

#include <stdbool.h>
#include <stdint.h>

enum {
	BUCKETS = 64,
	KEY_SIZE = 24, /* with the 0 that ends it */
	VALUE_SIZE = 256
};

/* A place for a key and its value. No compiler leaves a gap in it. */
struct bucket {
	uint64_t version; /* odd while the server writes to this bucket */
	char key[KEY_SIZE]; /* zeros behind it; "" if there is none */
	uint32_t length; /* of the value */
	uint32_t reserved; /* 0 */
	char value[VALUE_SIZE];
	uint64_t checksum; /* of all before it */
};

_Static_assert(sizeof(struct bucket) == 304, "no gaps in struct bucket");

/* Makes an empty table of BUCKETS. */
void table_init(struct bucket *table);

/* The bucket in which a search for the key begins; the next ones follow it. */
uint32_t table_home(const char *key);

/* Whether the key is one: not empty, and not too long. */
bool table_key_is_good(const char *key);

/*
 * Puts a value of at most VALUE_SIZE bytes. Returns the new version of its bucket,
 * or 0 if the table is full. Only one thread may write to a table at a time.
 */
uint64_t table_put(struct bucket *table, const char *key, const void *value,
		   uint32_t length);

/*
 * Whether a copy is of one moment, and what a bucket can be: with success, its
 * key ends, and its length is not more than there is.
 */
bool table_is_whole(const struct bucket *copy);

#endif
