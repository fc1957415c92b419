/*
 * place.c - one client's place: what belongs to this client, and to no other
 */
#include "place.h"

#include <stdio.h>
#include <string.h>

#include "log.h"
#include "pattern.h"
#include "who.h"

/* ---- Whether there is one ---- */

static size_t encode(char line[LINE_LONGEST], unsigned int number,
		     unsigned int connected, unsigned int max)
{
	return snprintf(line, LINE_LONGEST, "PLACE %u, %u of %u\n", number,
			connected, max);
}

int place_tell(struct place *place, unsigned int connected, unsigned int max)
{
	char line[LINE_LONGEST];
	size_t length = encode(line, place->number, connected, max);

	return line_send(&place->conn.oob.line, line, length);
}

static int hear(struct place *place)
{
	struct line *line = &place->conn.oob.line;
	char again[LINE_LONGEST] = "";
	unsigned int connected, max;

	if (line_recv(line, "PLACE"))
		return -1;
	/* sscanf(3) is lenient, so what it found must give the same line. */
	if (sscanf(line->text, "PLACE %9u, %9u of %9u", &place->number,
		   &connected, &max) == 3)
		encode(again, place->number, connected, max);
	if (strcmp(again, line->text))
		return log_fail(
			"the peer sent something other than PLACE; is it another chapter's program [docs/troubleshooting.md#refused]");
	if (place->number)
		return 0;
	log_fail(
		"server full (%u of %u); come again later [docs/troubleshooting.md#server-full]",
		connected, max);
	return PLACE_FULL;
}

int place_reach(struct place *place, const struct oob_way *way)
{
	struct conn *conn = &place->conn;
	int ret;

	/* Every line is to have our number, which we do not know yet. */
	log_hush(true);
	ret = conn_resolve(conn, way);
	log_hush(false);
	if (!ret)
		ret = hear(place);
	if (ret)
		return ret;
	/* So the logs of both ends agree. */
	log_prefix("Client %u: ", place->number);
	if (who_print(conn->oob.line.ssl))
		return -1;
	log_line("exchange connected.");
	return 0;
}

/* ---- What is in it ---- */

/* So many more, or fewer, of all that the place has. */
static void count(const struct place *place, int by)
{
	const struct transfer *t = &place->transfer;
	struct held *held = place->held;

	if (!held)
		return;
	held->pds += by * !!place->conn.pd;
	held->cqs += by * !!place->conn.cq;
	held->qps += by * !!place->conn.qp;
	held->mrs += by * (!!t->messages.mr + !!t->local.mr + !!t->exposed.mr);
}

/* The text from the client to the server, or from the server to it. */
static void write_text(char text[PATTERN_MIN], const struct place *place,
		       bool from_server)
{
	snprintf(text, PATTERN_MIN, "message from %s client %u",
		 from_server ? "passive/server side to" : "active/client side,",
		 place->number);
}

/* Puts our text where the peer will find it, in place of transfer_open()'s. */
static void sign(struct place *place)
{
	struct transfer *t = &place->transfer;
	struct region *ours = t->mode == MODE_WRITE ? &t->local : &t->exposed;

	write_text(ours->buf, place, place->held);
	pattern_fill(ours->buf, ours->size);
}

int place_open(struct place *place)
{
	struct transfer *t = &place->transfer;
	int ret;

	t->conn = &place->conn;
	t->who = place->held ? "passive/server" : "active/client";
	/* The PSN is chosen there, too: one for each queue pair. */
	ret = conn_create_qp(t->conn, TRANSFER_SENDS, TRANSFER_RECEIVES,
			     transfer_access(t->mode)) ||
	      transfer_open(t);
	count(place, 1);
	if (ret)
		return -1;
	sign(place);
	return transfer_post_receives(t);
}

int place_check(const struct place *place)
{
	const struct transfer *t = &place->transfer;
	const struct region *theirs =
		t->mode == MODE_WRITE ? &t->exposed : &t->local;
	char text[PATTERN_MIN];

	if (transfer_check(t))
		return -1;
	write_text(text, place, !place->held);
	if (strncmp(theirs->buf, text, PATTERN_MIN))
		return log_fail(
			"these bytes are not client %u's, but another's, or nobody's [docs/troubleshooting.md#wrong-bytes]",
			place->number);
	return 0;
}

void place_close(struct place *place)
{
	struct place had = *place;

	conn_end(&place->conn);
	transfer_close(&place->transfer);
	/* If one of the connection's objects is left, all of them stay counted. */
	if (conn_close(&place->conn))
		had.conn = (struct conn){ 0 };
	count(&had, -1);
	/* A region that could not be freed is still in place, and counts again. */
	count(place, 1);
}
