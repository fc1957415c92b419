/*
 * table.c - a table that is read while it is written
 */
#include "table.h"

#include <endian.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* FNV-1a: a short one, against accidents and not against an enemy. */
static uint64_t hash(const void *data, size_t length)
{
	uint64_t hash = 0xcbf29ce484222325;

	for (const unsigned char *c = data; length--; c++)
		hash = (hash ^ *c) * 0x100000001b3;
	return hash;
}

static uint64_t checksum(const struct entry *entry)
{
	return htobe64(hash(entry, offsetof(struct entry, checksum)));
}

struct entry table_entry(uint64_t version, const char *key, const void *value,
			 uint32_t length)
{
	struct entry entry = {
		.version = htobe64(version),
		.length = htobe32(length),
	};

	strcpy(entry.key, key);
	memcpy(entry.value, value, length);
	entry.checksum = checksum(&entry);
	return entry;
}

struct table *table_make(uint32_t count)
{
	struct table *table =
		calloc(1, sizeof(*table) + count * sizeof(*table->buckets));

	if (!table)
		return NULL;
	table->count = count;
	table->users = 1;
	for (uint32_t i = 0; i < count; i++)
		table->buckets[i].entries[0] = table_entry(0, "", "", 0);
	return table;
}

uint32_t table_home(const char *key, uint32_t count)
{
	return hash(key, strlen(key)) % count;
}

bool table_key_is_good(const char *key)
{
	size_t length = strnlen(key, KEY_SIZE);

	return length > 0 && length < KEY_SIZE;
}

/* The bucket that has the key, or else the one that is to have it. */
static struct bucket *find(struct table *table, const char *key)
{
	uint32_t home = table_home(key, table->count);

	for (uint32_t i = 0; i < table->count; i++) {
		struct bucket *bucket =
			&table->buckets[(home + i) % table->count];
		uint64_t version = be64toh(bucket->version);

		if (!version || !strcmp(bucket->entries[version % 2].key, key))
			return bucket;
	}
	return NULL;
}

uint64_t table_put(struct table *table, const char *key, const void *value,
		   uint32_t length)
{
	struct bucket *bucket = find(table, key);
	uint64_t version;

	if (!bucket)
		return 0;
	version = be64toh(bucket->version) + 1;
	bucket->entries[version % 2] = table_entry(version, key, value, length);
	/*
	 * Neither compiler nor processor promises that others see this second. A
	 * reader who sees it first finds an entry of another version.
	 */
	bucket->version = htobe64(version);
	return version;
}

const struct entry *table_whole(const struct bucket *copy)
{
	const struct entry *entry = &copy->entries[be64toh(copy->version) % 2];

	return entry->version == copy->version &&
			       entry->checksum == checksum(entry) &&
			       entry->key[KEY_SIZE - 1] == 0 &&
			       be32toh(entry->length) <= VALUE_SIZE ?
		       entry :
		       NULL;
}

void table_copy(struct table *to, const struct table *from)
{
	for (uint32_t i = 0; i < from->count; i++) {
		/* A client that lies may still write there. */
		struct bucket old = from->buckets[i], *new;
		const struct entry *entry = table_whole(&old);

		if (!entry || !entry->key[0])
			continue;
		new = find(to, entry->key);
		new->version = entry->version;
		new->entries[be64toh(entry->version) % 2] = *entry;
	}
}

void table_leave(struct table *table)
{
	for (uint32_t i = 0; i < table->count; i++)
		table->buckets[i].lock = BUCKET_MOVED;
}

bool table_is_left(const struct table *table)
{
	for (uint32_t i = 0; i < table->count; i++)
		if (table->buckets[i].lock != BUCKET_MOVED)
			return false;
	return true;
}
