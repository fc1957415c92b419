/*
 * making.h - how the connections of a crowd come and go
 */
#ifndef MAKING_H
#define MAKING_H

#include "crowd.h"

/* Begins as many connections as may be in the making at a time. 0, or -1. */
int making_start(struct crowd *crowd);

/* The CM's channel can be read. */
int making_on_cm(void *crowd);

#endif
