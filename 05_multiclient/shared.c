/*
 * shared.c - what all connections of a client program share
 */
#include "shared.h"

int shared_open(struct shared *shared, const struct options *options)
{
	*shared = (struct shared){ .lock = PTHREAD_MUTEX_INITIALIZER };
	shared->prepared = oob_prepare(options);
	return shared->prepared ? 0 : -1;
}

const struct device *shared_device(struct shared *shared,
				   const struct options *options,
				   const struct sockaddr *local)
{
	bool opened;

	/* Two that come at once must not both open it. */
	pthread_mutex_lock(&shared->lock);
	if (!shared->opened) {
		shared->opened = !devices_open(&shared->devices, options, NULL);
		if (!shared->opened)
			devices_close(&shared->devices);
	}
	opened = shared->opened;
	pthread_mutex_unlock(&shared->lock);
	return opened ? devices_find(&shared->devices, local) : NULL;
}

void shared_close(struct shared *shared)
{
	devices_close(&shared->devices);
	oob_close(shared->prepared);
}
