/*
 * list.h - a list whose members can leave it from anywhere
 */
#ifndef LIST_H
#define LIST_H

/* What is in a list has one of these, which knows its owner. */
struct link {
	struct link *prev, *next;
	void *owner;
};

/* Zero it before use. */
struct list {
	struct link *first, *last;
};

void list_append(struct list *list, struct link *link);
void list_remove(struct list *list, struct link *link);

/* The owner of the first link, or NULL if the list is empty. */
void *list_first(const struct list *list);

#endif
