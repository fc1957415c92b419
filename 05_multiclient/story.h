/*
 * story.h - what happens in a transfer, in words
 *
 * The lines that tell a run's story in its log; they decide nothing.
 */
#ifndef STORY_H
#define STORY_H

#include "data.h"
#include "state.h"

/* What the request with wr_id was, in words. The text is static. */
const char *story_request(const struct data *data, uint64_t wr_id);

/* What is waited for in these states, in words. The text is static. */
const char *story_awaited(const struct states *states);

/* Prints what is about to be written or read, and between which memory. */
void story_start(const struct data *data, enum mode mode,
		 const struct remote *peer);

/* Prints what *wc says, and the states of both machines when it came. */
void story_completion(const struct ibv_wc *wc, const struct states *states);

/* Says that event is not legal in these states. Returns -1. */
int story_illegal(const struct states *states, enum event event);

#endif
