/*
 * table.c - a table that is read while it is written
 */
#include "table.h"

#include <endian.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

/* FNV-1a: a short one, against accidents and not against an enemy. */
static uint64_t hash(const void *data, size_t length)
{
	uint64_t hash = 0xcbf29ce484222325;

	for (const unsigned char *c = data; length--; c++)
		hash = (hash ^ *c) * 0x100000001b3;
	return hash;
}

static uint64_t checksum(const struct bucket *bucket)
{
	return htobe64(hash(bucket, offsetof(struct bucket, checksum)));
}

void table_init(struct bucket *table)
{
	memset(table, 0, BUCKETS * sizeof(*table));
	for (int i = 0; i < BUCKETS; i++)
		table[i].checksum = checksum(&table[i]);
}

uint32_t table_home(const char *key)
{
	return hash(key, strlen(key)) % BUCKETS;
}

bool table_key_is_good(const char *key)
{
	size_t length = strnlen(key, KEY_SIZE);

	return length > 0 && length < KEY_SIZE;
}

/* The bucket that has the key, or else the one that is to have it. */
static struct bucket *find(struct bucket *table, const char *key)
{
	uint32_t home = table_home(key);

	for (uint32_t i = 0; i < BUCKETS; i++) {
		struct bucket *bucket = &table[(home + i) % BUCKETS];

		if (!bucket->key[0] || !strcmp(bucket->key, key))
			return bucket;
	}
	return NULL;
}

/*
 * What the program has written before this is in memory before the version is;
 * what it writes after this comes after it. Without the fences, compiler and
 * processor may choose another order.
 */
static void set_version(struct bucket *bucket, uint64_t version)
{
	atomic_thread_fence(memory_order_seq_cst);
	*(volatile uint64_t *)&bucket->version = htobe64(version);
	atomic_thread_fence(memory_order_seq_cst);
}

uint64_t table_put(struct bucket *table, const char *key, const void *value,
		   uint32_t length)
{
	struct bucket *bucket = find(table, key), after = { 0 };
	uint64_t version;

	if (!bucket)
		return 0;
	version = be64toh(bucket->version);
	/* All of it is computed before, so that a reader seldom meets us. */
	after.version = htobe64(version + 2);
	strcpy(after.key, key);
	after.length = htobe32(length);
	memcpy(after.value, value, length);
	after.checksum = checksum(&after);
	set_version(bucket, version + 1);
	memcpy(bucket->key, after.key,
	       sizeof(after) - offsetof(struct bucket, key));
	set_version(bucket, version + 2);
	return version + 2;
}

bool table_is_whole(const struct bucket *copy)
{
	return be64toh(copy->version) % 2 == 0 &&
	       copy->checksum == checksum(copy) &&
	       copy->key[KEY_SIZE - 1] == 0 &&
	       be32toh(copy->length) <= VALUE_SIZE;
}
