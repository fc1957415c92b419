/*
 * share.c - how much of something each name has, so that none has too much
 */
#include "share.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"

struct share_of {
	struct share_of *next;
	int count;
	char name[];
};

/* The place in the list where name is, or the end of it. */
static struct share_of **find(struct share *share, const char *name)
{
	struct share_of **place = &share->first;

	while (*place && strcmp((*place)->name, name))
		place = &(*place)->next;
	return place;
}

static struct share_of *add(struct share_of **place, const char *name)
{
	struct share_of *of = calloc(1, sizeof(*of) + strlen(name) + 1);

	if (of)
		strcpy(of->name, name);
	*place = of;
	return of;
}

int share_take(struct share *share, const char *name)
{
	struct share_of **place, *of;
	int count = 0;

	pthread_mutex_lock(&share->lock);
	place = find(share, name);
	of = *place ? *place : add(place, name);
	/* Compare and take under one lock, as with the places. */
	if (!of)
		count = log_fail_errno("calloc", errno,
				       "this client is not served");
	else if (of->count < share->max)
		count = ++of->count;
	pthread_mutex_unlock(&share->lock);
	return count;
}

void share_return(struct share *share, const char *name)
{
	struct share_of **place, *of;

	pthread_mutex_lock(&share->lock);
	place = find(share, name);
	of = *place;
	/* A name that has none is not kept. */
	if (of && !--of->count) {
		*place = of->next;
		free(of);
	}
	pthread_mutex_unlock(&share->lock);
}
