/*
 * late.h - who takes too long
 */
#ifndef LATE_H
#define LATE_H

#include "guests.h"

/* To be called when the alarm is due: ends whoever is too late. Returns 0, or -1. */
int late_on_time(void *guests);

#endif
