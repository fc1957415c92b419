/*
 * request.h - the requests of a channel: how each is posted, and told from others
 *
 * What is known again at its completion stands in its wr_id: whose request it
 * was, and a number.
 */
#ifndef REQUEST_H
#define REQUEST_H

#include "data.h"

/* Whose a request was. */
enum request {
	REQUEST_OTHER, /* not one of a channel */
	REQUEST_RECEIVE,
	REQUEST_HEAD, /* a header of ours */
	REQUEST_PART, /* a part that we send or write */
	REQUEST_READ /* a part that we read */
};

/* The requests of one connection. */
struct requests {
	struct conn *conn; /* borrowed */
	uint64_t sends, sent; /* of the send queue: posted; complete */
};

/* length bytes of a region, from at on. */
struct ibv_sge request_piece(const struct region *region, const char *at,
			     uint32_t length);

/*
 * Each posts a request: a message comes into, or goes from, count pieces; one
 * piece is written to remote, with length as immediate data; or is read from
 * there, with its length as the number. All of the send queue are signalled.
 * Each returns 0, or -1 having said why.
 */
int request_receive(struct requests *requests, unsigned int number,
		    struct ibv_sge *pieces, int count);
int request_send(struct requests *requests, enum request request,
		 struct ibv_sge *pieces, int count);
int request_write(struct requests *requests, struct ibv_sge *piece,
		  const struct remote *remote);
int request_read(struct requests *requests, struct ibv_sge *piece,
		 const struct remote *remote);

/* Of a completion: whose it is, the number, and the former in words. */
enum request request_of(uint64_t wr_id);
uint64_t request_number(uint64_t wr_id);
const char *request_name(uint64_t wr_id);

#endif
