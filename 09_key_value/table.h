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
	BUCKETS = 8, /* of a new table; then twice as many, and so on */
	BUCKETS_MAX = 512,
	KEY_SIZE = 24, /* with the 0 that ends it */
	VALUE_SIZE = 256
};

/* A key and its value, as a PUT leaves them. */
struct entry {
	uint64_t version; /* 1 for the first PUT to its bucket; 0: none yet */
	char key[KEY_SIZE]; /* zeros behind it; "" if there is none */
	uint32_t length; /* of the value */
	uint32_t reserved; /* 0 */
	char value[VALUE_SIZE];
	uint64_t checksum; /* of all before it */
};

/*
 * A place for a key. A PUT writes its entry where the last one but one was, and then
 * the version. So what was there stays whole, even if whoever writes dies before that.
 */
struct bucket {
	uint64_t lock; /* of clients that write; or BUCKET_MOVED */
	uint64_t version; /* of the entry that counts: entries[version % 2] */
	struct entry entries[2];
};

_Static_assert(sizeof(struct bucket) == 624, "no gaps in struct bucket");

/*
 * A lock that nobody lets go: there is, or will be, another table. In each byte order
 * it is the same.
 */
#define BUCKET_MOVED UINT64_MAX

struct table {
	uint32_t count; /* of buckets: a power of two */
	unsigned int users; /* at first 1: who has made it */
	struct bucket buckets[];
};

/* An empty table, for free(); or NULL, with errno. */
struct table *table_make(uint32_t count);

/* In a table of so many buckets: where a search for the key begins. */
uint32_t table_home(const char *key, uint32_t count);

/* Whether the key is one: not empty, and not too long. */
bool table_key_is_good(const char *key);

/* Makes an entry of a value of at most VALUE_SIZE bytes. */
struct entry table_entry(uint64_t version, const char *key, const void *value,
			 uint32_t length);

/*
 * Puts a value of at most VALUE_SIZE bytes. Returns the new version of its bucket,
 * or 0 if the table is full. Only one thread may write to a table at a time.
 */
uint64_t table_put(struct table *table, const char *key, const void *value,
		   uint32_t length);

/* Puts all that counts in one table into another, larger one, with its versions. */
void table_copy(struct table *to, const struct table *from);

/* Makes all buckets BUCKET_MOVED, or says whether they are. */
void table_leave(struct table *table);
bool table_is_left(const struct table *table);

/*
 * The entry that counts in a copy of a bucket; or NULL if it is not of one moment,
 * or cannot be. Its key ends, and its length is not more than there is.
 */
const struct entry *table_whole(const struct bucket *copy);

#endif
