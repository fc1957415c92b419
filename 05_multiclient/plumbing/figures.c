/*
 * figures.c - who is let in, and what became of each client
 */
#include "figures.h"

void figures_arrive(struct figures *figures)
{
	pthread_mutex_lock(&figures->lock);
	figures->strangers++;
	pthread_mutex_unlock(&figures->lock);
}

unsigned int figures_let_in(struct figures *figures, unsigned int *connected)
{
	unsigned int number = 0;

	pthread_mutex_lock(&figures->lock);
	figures->strangers--;
	/* Check and take under one lock: two must not take the last place. */
	if (figures->connected < figures->max) {
		figures->connected++;
		number = ++figures->number;
	} else {
		figures->refused++;
	}
	*connected = figures->connected;
	pthread_mutex_unlock(&figures->lock);
	return number;
}

void figures_refuse(struct figures *figures)
{
	pthread_mutex_lock(&figures->lock);
	figures->strangers--;
	figures->refused++;
	pthread_mutex_unlock(&figures->lock);
}

void figures_leave(struct figures *figures, enum step step)
{
	pthread_mutex_lock(&figures->lock);
	if (step == STEP_HANDSHAKE)
		figures->strangers--;
	else
		figures->connected--;
	figures->left[step]++;
	pthread_mutex_unlock(&figures->lock);
}

struct figures figures_now(struct figures *figures)
{
	struct figures now;

	pthread_mutex_lock(&figures->lock);
	now = *figures;
	pthread_mutex_unlock(&figures->lock);
	return now;
}
