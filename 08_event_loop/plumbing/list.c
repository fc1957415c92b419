/*
 * list.c - a list whose members can leave it from anywhere
 */
#include "list.h"

#include <stddef.h>

void list_append(struct list *list, struct link *link)
{
	link->prev = list->last;
	link->next = NULL;
	if (list->last)
		list->last->next = link;
	else
		list->first = link;
	list->last = link;
}

void list_remove(struct list *list, struct link *link)
{
	if (link->prev)
		link->prev->next = link->next;
	else
		list->first = link->next;
	if (link->next)
		link->next->prev = link->prev;
	else
		list->last = link->prev;
	link->prev = link->next = NULL;
}

void *list_first(const struct list *list)
{
	return list->first ? list->first->owner : NULL;
}
