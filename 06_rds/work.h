/*
 * work.h - what the client can do with its socket
 *
 * Each returns 0, or -1 after reporting why.
 */
#ifndef WORK_H
#define WORK_H

#include "session.h"

/* A message to each server, and its answer. */
int work_talk(struct session *session);

/* Numbered messages to each server, and how many have arrived. */
int work_count(struct session *session);

/* A port that nobody reads: how a congestion begins and ends. */
int work_congest(struct session *session);

/* A peer that does not answer: a full send buffer, and RDS_CANCEL_SENT_TO. */
int work_fill(struct session *session);

/* RDMA into the first server's memory. */
int work_write(struct session *session);

/* Round trips and messages per second, with the first server. */
int work_bench(struct session *session);

#endif
