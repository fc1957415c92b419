/*
 * table.h - finds an entry by a number
 */
#ifndef TABLE_H
#define TABLE_H

#include <stddef.h>
#include <stdint.h>

/* What is in a table has one of these as its first member. */
struct table_entry {
	uint32_t key;
	struct table_entry *next; /* in the same bucket */
};

/* Zero it before table_open(). */
struct table {
	struct table_entry **buckets;
	size_t mask;
	size_t count; /* entries */
};

/* For about that many entries. Returns 0, or -1 after reporting why. */
int table_open(struct table *table, size_t entries);
void table_close(struct table *table);

/* The entry, whose key is set and not yet in the table, stays the caller's. */
void table_add(struct table *table, struct table_entry *entry);
void table_remove(struct table *table, struct table_entry *entry);

/* Returns the entry, or NULL if there is none with that key. */
struct table_entry *table_find(const struct table *table, uint32_t key);

#endif
