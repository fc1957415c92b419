/*
 * share.h - how much of something each name has, so that none has too much
 *
 * The threads of all clients write here, so each function takes the lock.
 */
#ifndef SHARE_H
#define SHARE_H

#include <pthread.h>

struct share {
	pthread_mutex_t lock; /* for what follows */
	int max; /* the most that one name may have */
	struct share_of *first; /* those who have any */
};

/*
 * One more for name. Returns how many it has now, 0 if it may not have another one,
 * or -1 after reporting why that cannot be counted. share_return() takes back what
 * share_take() gave.
 */
int share_take(struct share *share, const char *name);
void share_return(struct share *share, const char *name);

#endif
