/*
 * table.c - finds an entry by a number
 */
#include "table.h"

#include <errno.h>
#include <stdlib.h>

#include "log.h"

int table_open(struct table *table, size_t entries)
{
	size_t size = 64;

	while (size < entries)
		size *= 2;
	table->buckets = calloc(size, sizeof(*table->buckets));
	if (!table->buckets)
		return log_fail_errno("calloc", errno, "%zu buckets", size);
	table->mask = size - 1;
	return 0;
}

void table_close(struct table *table)
{
	free(table->buckets);
	*table = (struct table){ 0 };
}

/* Numbers are given out one after another, so their last bits differ. */
static struct table_entry **bucket_of(const struct table *table, uint32_t key)
{
	return &table->buckets[key & table->mask];
}

void table_add(struct table *table, struct table_entry *entry)
{
	struct table_entry **bucket = bucket_of(table, entry->key);

	entry->next = *bucket;
	*bucket = entry;
	table->count++;
}

void table_remove(struct table *table, struct table_entry *entry)
{
	struct table_entry **at = bucket_of(table, entry->key);

	while (*at && *at != entry)
		at = &(*at)->next;
	if (!*at)
		return;
	*at = entry->next;
	table->count--;
}

struct table_entry *table_find(const struct table *table, uint32_t key)
{
	struct table_entry *entry;

	if (!table->buckets)
		return NULL;
	for (entry = *bucket_of(table, key); entry; entry = entry->next)
		if (entry->key == key)
			return entry;
	return NULL;
}
