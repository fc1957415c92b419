/*
 * request.h - the requests of a channel: how they are posted
 *
 * Those of the send queue gather in a chain, which is posted in one call when it
 * is full, or when request_post() says so. Only the last of a chain is signalled,
 * and each READ, whose completion brings a part.
 */
#ifndef REQUEST_H
#define REQUEST_H

#include "data.h"

/* The longest chain. */
#define REQUEST_CHAIN 16

/* The requests of one connection. Set conn and chain, and zero the rest. */
struct requests {
	struct conn *conn; /* borrowed */
	unsigned int chain; /* how many gather, at most: 1 to REQUEST_CHAIN */
	uint64_t sends, sent; /* of the send queue: all; complete */
	/* Those that wait to be posted. */
	struct ibv_send_wr wrs[REQUEST_CHAIN];
	struct ibv_sge pieces[REQUEST_CHAIN][2];
	unsigned int waiting;
	unsigned int over, parts; /* since the last one that is signalled */
};

/* length bytes of a region, from at on. */
struct ibv_sge request_piece(const struct region *region, const char *at,
			     uint32_t length);

/*
 * A receive is posted, for a message that comes into count pieces. The others go
 * into the chain: a message goes from count pieces; one piece is written to remote,
 * with its length as immediate data; or is read from there. Each returns 0, or -1
 * after reporting why.
 */
int request_receive(struct requests *requests, unsigned int number,
		    struct ibv_sge *pieces, int count);
int request_send(struct requests *requests, enum request request,
		 struct ibv_sge *pieces, int count);
int request_write(struct requests *requests, struct ibv_sge *piece,
		  const struct remote *remote);
int request_read(struct requests *requests, struct ibv_sge *piece,
		 const struct remote *remote);

/* Posts what has gathered. Returns 0, or -1 after reporting why. */
int request_post(struct requests *requests);

/*
 * A request of the send queue is complete, and with it those before it that were
 * not signalled. Returns how many parts that were.
 */
unsigned int request_done(struct requests *requests, uint64_t wr_id);

/* Whose a completion is, in words. */
const char *request_name(uint64_t wr_id);

#endif
