/*
 * work.h - what the client can do with its socket
 *
 * Each returns 0, or -1 having said why.
 */
#ifndef WORK_H
#define WORK_H

#include "session.h"

/* A message to each server, and its answer. */
int talk(struct session *session);

/* Numbered messages to each server, and how many have arrived. */
int count(struct session *session);

/* A port that nobody reads: the beginning and the end of a congestion. */
int congest(struct session *session);

/* A peer that does not answer: a full send buffer, and RDS_CANCEL_SENT_TO. */
int fill(struct session *session);

/* RDMA into the first server's memory. */
int write_memory(struct session *session);

/* Round trips and messages per second, with the first server. */
int bench(struct session *session);

#endif
