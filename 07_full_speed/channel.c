/*
 * channel.c - a stream of messages with a full queue, and credits
 */
#include "channel.h"

#include <endian.h>
#include <string.h>

#include "cm_help.h"
#include "log.h"
#include "log_wc.h"

/* A slot of the region heads: a header, and room for a text. */
#define SLOT (HEAD_SIZE + HEAD_TEXT)

unsigned int channel_sends(unsigned int depth)
{
	/* Each part, and a message that returns credits for each two. */
	return 2 * depth;
}

static char *head_in(const struct channel *channel, unsigned int slot)
{
	return channel->heads.buf + slot * SLOT;
}

/* Headers to be sent have a slot for each place in the send queue. */
static char *head_out(const struct channel *channel, uint64_t number)
{
	return channel->heads.buf +
	       (channel->depth + number % channel_sends(channel->depth)) * SLOT;
}

static char *part_at(const struct channel *channel, uint64_t number)
{
	return channel->parts.buf + number % channel->depth * channel->bytes;
}

/* Two pieces of memory for one message: its header apart from its data. */
static int post_receive(struct channel *channel, unsigned int slot)
{
	bool has_part = channel->mode == MODE_SEND && channel->receives;
	char *head = head_in(channel, slot);
	struct ibv_sge pieces[2] = {
		request_piece(&channel->heads, head, HEAD_SIZE),
		request_piece(&channel->heads, head + HEAD_SIZE, HEAD_TEXT),
	};

	if (has_part)
		pieces[1] =
			request_piece(&channel->parts, part_at(channel, slot),
				      channel->bytes);
	return request_receive(&channel->requests, slot, pieces, 2);
}

/* What the peer may do to our parts. */
static int access_of(const struct channel *channel)
{
	const struct ibv_context *verbs = channel->data->conn->pd->context;

	if (channel->mode == MODE_WRITE && channel->receives)
		return IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
	if (channel->mode == MODE_READ)
		return channel->receives ? cm_read_access(verbs) :
					   IBV_ACCESS_REMOTE_READ;
	return channel->receives ? IBV_ACCESS_LOCAL_WRITE : 0;
}

int channel_open(struct channel *channel)
{
	struct ibv_pd *pd = channel->data->conn->pd;
	unsigned int depth = channel->depth;

	flow_open(&channel->flow, depth);
	channel->requests.conn = channel->data->conn;
	/* A quarter: the rest is under way while the next chain gathers. */
	channel->requests.chain =
		depth / 4 < REQUEST_CHAIN ? depth / 4 : REQUEST_CHAIN;
	if (region_open(&channel->parts, pd, depth * channel->bytes,
			access_of(channel)) ||
	    region_open(&channel->heads, pd,
			(depth + channel_sends(depth)) * SLOT,
			IBV_ACCESS_LOCAL_WRITE))
		return -1;
	for (unsigned int slot = 0; slot < depth; slot++)
		if (post_receive(channel, slot))
			return -1;
	return 0;
}

void channel_close(struct channel *channel)
{
	region_close(&channel->parts);
	region_close(&channel->heads);
}

/* Whether the send queue has room, for a message that returns credits as well. */
static bool has_room(const struct channel *channel, unsigned int left)
{
	const struct requests *requests = &channel->requests;

	return requests->sends - requests->sent + left <
	       channel_sends(channel->depth);
}

/* Sends head, with length bytes of a part, or of a text, behind it. */
static int post_head(struct channel *channel, struct head *head,
		     const void *text, const char *part)
{
	char *wire = head_out(channel, channel->requests.sends);
	struct ibv_sge pieces[2] = {
		request_piece(&channel->heads, wire, HEAD_SIZE),
		part ? request_piece(&channel->parts, part, head->length) :
		       request_piece(&channel->heads, wire + HEAD_SIZE,
				     head->length),
	};

	head->credits = flow_send(&channel->flow);
	head->done = channel->taken;
	head_encode(head, wire);
	if (text)
		memcpy(wire + HEAD_SIZE, text, head->length);
	if (request_send(&channel->requests, part ? REQUEST_PART : REQUEST_HEAD,
			 pieces, part || text ? 2 : 1))
		return -1;
	/* Parts gather; anything else goes now, with what has gathered. */
	if (head->type == HEAD_DATA || head->type == HEAD_HERE)
		return 0;
	return request_post(&channel->requests);
}

/* Credits that are owed go back with any message, or in one of their own. */
static int return_credits(struct channel *channel)
{
	struct head head = { .type = HEAD_CREDIT };

	if (!flow_must_return(&channel->flow) || !has_room(channel, 0))
		return 0;
	return post_head(channel, &head, NULL, NULL);
}

char *channel_part(const struct channel *channel)
{
	bool remote = channel->mode != MODE_SEND;

	/* Our memory is free when our request is complete, ... */
	if (!flow_may_send(&channel->flow) || !has_room(channel, 1) ||
	    (channel->mode != MODE_READ &&
	     channel->posted - channel->complete >= channel->depth))
		return NULL;
	/* ... and the peer's end of it is free when the peer says so. */
	if (remote && channel->posted - channel->taken >= channel->depth)
		return NULL;
	return part_at(channel, channel->posted);
}

static int write_part(struct channel *channel, char *part, uint32_t length)
{
	struct ibv_sge piece = request_piece(&channel->parts, part, length);
	struct remote place = channel->ring;

	place.addr += part - channel->parts.buf;
	flow_send_bare(&channel->flow);
	return request_write(&channel->requests, &piece, &place);
}

int channel_send_part(struct channel *channel, uint32_t length)
{
	char *part = part_at(channel, channel->posted++);
	struct head head = {
		.type = HEAD_DATA,
		.length = length,
	};

	if (channel->mode == MODE_WRITE)
		return write_part(channel, part, length);
	if (channel->mode == MODE_SEND)
		return post_head(channel, &head, NULL, part);
	head.type = HEAD_HERE;
	head.addr = (uintptr_t)part;
	head.rkey = channel->parts.mr->rkey;
	return post_head(channel, &head, NULL, NULL);
}

bool channel_may_send(const struct channel *channel)
{
	return flow_may_send(&channel->flow) && has_room(channel, 1);
}

int channel_wait(struct channel *channel, struct news *news)
{
	*news = (struct news){ .what = NEWS_NONE };
	if (!flow_may_send(&channel->flow))
		channel->flow.waits++;
	while (!channel_may_send(channel) && news->what == NEWS_NONE)
		if (channel_next(channel, news))
			return -1;
	return 0;
}

int channel_send(struct channel *channel, struct head *head, const void *text,
		 size_t length)
{
	struct news news;

	if (channel_wait(channel, &news))
		return -1;
	if (news.what != NEWS_NONE)
		return log_fail(
			"protocol error: the peer does not wait for an answer");
	head->length = length;
	return post_head(channel, head, text, NULL);
}

/* Receiver: fetches a part from where the peer says that it is. */
static int read_part(struct channel *channel, const struct head *head)
{
	struct ibv_sge piece =
		request_piece(&channel->parts,
			      part_at(channel, channel->arrived), head->length);
	struct remote place = { .addr = head->addr, .rkey = head->rkey };

	return request_read(&channel->requests, &piece, &place);
}

/* A part has come, or can be fetched: is there a place for it? */
static int check_part(struct channel *channel, uint32_t length)
{
	if (channel->receives && length && length <= channel->bytes &&
	    channel->arrived - channel->taken < channel->depth)
		return 0;
	return log_fail(
		"protocol error: a part of %u bytes, where %zu are the most, or one too many",
		length, channel->bytes);
}

/* The peer has written a part, and says how long it is. */
static int on_write(struct channel *channel, uint32_t length, struct news *news)
{
	if (channel->mode != MODE_WRITE)
		return log_fail("protocol error: a write with immediate data");
	if (check_part(channel, length))
		return -1;
	*news = (struct news){
		.what = NEWS_PART,
		.part = part_at(channel, channel->arrived++),
		.length = length,
	};
	channel->held.part = true;
	return 0;
}

/* A part is behind the header; or the header says where it is. */
static int on_part(struct channel *channel, unsigned int slot,
		   struct news *news)
{
	const struct head *head = &news->head;
	enum mode mode = head->type == HEAD_DATA ? MODE_SEND : MODE_READ;

	if (channel->mode != mode)
		return log_fail(
			"protocol error: a part that comes another way than was agreed");
	if (check_part(channel, head->length))
		return -1;
	if (mode == MODE_READ) {
		/* The peer has its credit when its memory is free again. */
		channel->held.credit = false;
		if (read_part(channel, head))
			return -1;
	} else {
		news->what = NEWS_PART;
		news->part = part_at(channel, slot);
		news->length = head->length;
		channel->held.part = true;
	}
	channel->arrived++;
	return 0;
}

/* Sender: how many parts the peer has taken, of which it says the low 32 bits. */
static int on_done(struct channel *channel, uint32_t done)
{
	uint32_t more = done - (uint32_t)channel->taken;

	if (more > channel->posted - channel->taken)
		return log_fail(
			"protocol error: the peer has taken more parts than there were");
	channel->taken += more;
	return 0;
}

/* One of the peer's messages. */
static int on_message(struct channel *channel, unsigned int slot, size_t size,
		      struct news *news)
{
	struct head *head = &news->head;

	if (head_decode(head, head_in(channel, slot), size) ||
	    flow_returned(&channel->flow, head->credits))
		return -1;
	if (!channel->receives && on_done(channel, head->done))
		return -1;
	if (head->type == HEAD_DATA || head->type == HEAD_HERE)
		return on_part(channel, slot, news);
	if (head->length > HEAD_TEXT)
		return log_fail("protocol error: a text of %u bytes",
				head->length);
	news->text = channel->mode == MODE_SEND && channel->receives ?
			     part_at(channel, slot) :
			     head_in(channel, slot) + HEAD_SIZE;
	news->what = head->type == HEAD_CREDIT ? NEWS_NONE : NEWS_MESSAGE;
	return 0;
}

/* What the last completion brought has been dealt with. */
static int release(struct channel *channel)
{
	struct held *held = &channel->held;

	if (held->receive && post_receive(channel, held->slot))
		return -1;
	if (held->credit)
		flow_posted(&channel->flow);
	if (held->part)
		channel->taken++;
	*held = (struct held){ 0 };
	return return_credits(channel);
}

/* One of our requests is complete; a read has brought a part. */
static void on_request(struct channel *channel, uint64_t wr_id,
		       struct news *news)
{
	enum request of = request_of(wr_id);

	/* The MSG_DONE of the agreement. */
	if (of == REQUEST_MESSAGE)
		return;
	if (of == REQUEST_READ) {
		news->what = NEWS_PART;
		news->part = part_at(channel, channel->complete);
		news->length = request_number(wr_id);
		channel->held.part = channel->held.credit = true;
	}
	channel->complete += request_done(&channel->requests, wr_id);
}

/* What a completion means, and what is due when that is dealt with. */
static int on_completion(struct channel *channel, const struct ibv_wc *wc,
			 struct news *news)
{
	*news = (struct news){ .what = NEWS_NONE };
	if (wc->status != IBV_WC_SUCCESS)
		return log_fail_wc(request_name(wc->wr_id), wc);
	if (!(wc->opcode & IBV_WC_RECV)) {
		on_request(channel, wc->wr_id, news);
		return 0;
	}
	channel->held.receive = channel->held.credit = true;
	channel->held.slot = request_number(wc->wr_id);
	if (wc->opcode == IBV_WC_RECV_RDMA_WITH_IMM)
		return on_write(channel, be32toh(wc->imm_data), news);
	return on_message(channel, channel->held.slot, wc->byte_len, news);
}

int channel_next(struct channel *channel, struct news *news)
{
	struct ibv_wc wc;
	int n = release(channel) ? -1 : data_poll(channel->data, &wc);

	/* What has gathered goes before we sleep: nothing else may wake us. */
	if (n < 0 || (n == 0 && (request_post(&channel->requests) ||
				 data_next(channel->data, &wc))))
		return -1;
	return on_completion(channel, &wc, news);
}

int channel_try(struct channel *channel, struct news *news)
{
	struct held current = channel->held;
	struct ibv_wc wc;
	int n;

	channel->held = (struct held){ 0 };
	n = data_look(channel->data, &wc);
	if (n > 0 && (on_completion(channel, &wc, news) || release(channel)))
		n = -1;
	channel->held = current;
	return n;
}

int channel_flush(struct channel *channel)
{
	struct news news;

	while (channel->requests.sent < channel->requests.sends)
		if (channel_next(channel, &news))
			return -1;
	return 0;
}
