/*
 * message.c - what client and server send each other
 */
#include "message.h"

#include <endian.h>
#include <string.h>

#include "log.h"

/* As in 02_write_read, whose client may talk to this server. */
#define VERSION 1

static const uint8_t magic[4] = { 'R', 'D', 'M', 'A' };

struct msg msg_make(enum msg_type type, int mode, uint64_t addr, uint32_t rkey,
		    uint32_t length)
{
	struct msg msg = {
		.version = VERSION,
		.type = type,
		.mode = mode,
		.addr = htobe64(addr),
		.rkey = htobe32(rkey),
		.length = htobe32(length),
	};

	memcpy(msg.magic, magic, sizeof(magic));
	return msg;
}

static int check_mr(const struct msg *msg)
{
	uint64_t addr = be64toh(msg->addr);

	if (msg->mode != MODE_WRITE && msg->mode != MODE_READ)
		return log_fail("the peer's MSG_MR has the unknown mode %d",
				msg->mode);
	if (addr + be32toh(msg->length) < addr)
		return log_fail(
			"the peer's memory would reach beyond the end of the address space: refused");
	return 0;
}

static int check_request(const struct msg *msg)
{
	uint32_t length = be32toh(msg->length);

	if (msg->mode && msg->mode != MODE_WRITE)
		return log_fail(
			"the peer's MSG_REQUEST has the unknown mode %d",
			msg->mode);
	if (!length || length > MSG_MAX_REQUEST)
		return log_fail(
			"the peer's request has %u bytes; 1 to %d are allowed",
			length, MSG_MAX_REQUEST);
	return 0;
}

/* Which fields each type must leave zero. */
static bool has_too_much(const struct msg *msg)
{
	switch (msg->type) {
	case MSG_DONE:
		return msg->mode || msg->addr || msg->rkey || msg->length;
	case MSG_REQUEST:
		return msg->addr || msg->rkey;
	case MSG_ANSWER:
		return msg->mode || msg->rkey;
	default:
		return false;
	}
}

static int check_fields(const struct msg *msg)
{
	static const char *const names[] = { "message", "MSG_MR", "MSG_DONE",
					     "MSG_REQUEST", "MSG_ANSWER" };

	if (msg->type < MSG_MR || msg->type > MSG_ANSWER)
		return log_fail(
			"the peer sent a message of the unknown type %d",
			msg->type);
	if (msg->reserved || has_too_much(msg))
		return log_fail(
			"the peer's %s has a value where there must be zero",
			names[msg->type]);
	if (msg->type == MSG_MR)
		return check_mr(msg);
	return msg->type == MSG_REQUEST ? check_request(msg) : 0;
}

int msg_check(const struct msg *msg, uint32_t length)
{
	size_t follow, due = 0;

	if (length < sizeof(*msg))
		return log_fail(
			"the peer sent a message of %u bytes instead of %zu or more; is it another chapter's program [docs/troubleshooting.md#refused]",
			length, sizeof(*msg));
	if (memcmp(msg->magic, magic, sizeof(magic)))
		return log_fail(
			"the peer's message does not begin with RDMA; is it another chapter's program [docs/troubleshooting.md#refused]");
	if (msg->version != VERSION)
		return log_fail(
			"the peer speaks version %d, this program version %d; build both from the same source [docs/troubleshooting.md#refused]",
			msg->version, VERSION);
	if (check_fields(msg))
		return -1;
	if (msg->type == MSG_REQUEST)
		due = be32toh(msg->length);
	follow = length - sizeof(*msg);
	if (follow != due)
		return log_fail(
			"%zu bytes follow the peer's message of type %d instead of %zu; is it another chapter's program [docs/troubleshooting.md#refused]",
			follow, msg->type, due);
	return 0;
}

uint64_t msg_checksum(const void *bytes, size_t length)
{
	const uint8_t *at = bytes;
	uint64_t sum = 0xcbf29ce484222325;

	for (size_t i = 0; i < length; i++)
		sum = (sum ^ at[i]) * 0x100000001b3;
	return sum;
}
