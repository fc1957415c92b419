/*
 * talk.c - a message to each server, and its answer
 */
#include <stdio.h>
#include <unistd.h>

#include "info.h"
#include "log.h"
#include "work.h"

int work_talk(struct session *session)
{
	char text[DGRAM_TEXT_MAX];
	struct rds_news news;
	struct dgram dgram;

	snprintf(text, sizeof(text),
		 "message from active/client side with pid %d", getpid());
	for (int i = 0; i < session->peer_count; i++) {
		if (session_send_text(session, &session->peers[i], DGRAM_TEXT,
				      text) ||
		    session_expect(session, &session->peers[i], DGRAM_ANSWER,
				   "an answer", &dgram, &news))
			return -1;
		log_text("received message: ", dgram.text, dgram.length);
	}
	return info_connections(&session->rds, &session->peers[0]);
}
