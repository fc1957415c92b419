/*
 * msg.c - the messages that go over the wire, and how they are checked
 */
#include "msg.h"

#include <endian.h>
#include <string.h>

#include "log.h"

static const uint8_t magic[4] = { 'R', 'D', 'M', 'A' };

/*
 * The layout on the wire. Every field stands at a multiple of its own size,
 * so that no compiler puts a gap between two of them. It is our own struct: one
 * of the library's would change with the library and the machine.
 */
struct wire {
	uint8_t magic[4];
	uint8_t version;
	uint8_t type;
	uint8_t mode;
	uint8_t reserved; /* 0 */
	uint64_t addr; /* big-endian, like all that follows */
	uint32_t rkey;
	uint32_t length;
};

_Static_assert(sizeof(struct wire) == MSG_SIZE, "no gaps in struct wire");
_Static_assert(offsetof(struct wire, addr) == 8, "addr is at byte 8");
_Static_assert(offsetof(struct wire, length) == 20, "length is at byte 20");

void msg_encode(const struct msg *msg, void *wire)
{
	struct wire w = {
		.version = MSG_VERSION,
		.type = msg->type,
		.mode = msg->mode,
		.addr = htobe64(msg->mem.addr),
		.rkey = htobe32(msg->mem.rkey),
		.length = htobe32(msg->mem.length),
	};

	memcpy(w.magic, magic, sizeof(magic));
	memcpy(wire, &w, sizeof(w));
}

int msg_check_memory(const struct remote *mem)
{
	if (mem->length == 0 || mem->length > MSG_MAX_LENGTH)
		return log_fail(
			"the peer announces %u bytes of memory; 1 to %d are allowed",
			mem->length, MSG_MAX_LENGTH);
	if (mem->addr + mem->length < mem->addr)
		return log_fail(
			"the peer's memory would reach beyond the end of the address space: refused");
	return 0;
}

/* The fields that type does not use must be zero. */
static int check_fields(const struct msg *msg)
{
	const struct remote *mem = &msg->mem;

	switch (msg->type) {
	case MSG_MR:
		if (msg->mode < MODE_WRITE || msg->mode > MODE_READ)
			return log_fail(
				"the peer's MSG_MR has the unknown mode %d",
				msg->mode);
		return msg_check_memory(mem);
	case MSG_DONE:
		if (msg->mode || mem->addr || mem->rkey || mem->length)
			return log_fail(
				"the peer's MSG_DONE has a value where there must be zero");
		return 0;
	default:
		return log_fail(
			"the peer sent a message of the unknown type %d",
			msg->type);
	}
}

int msg_decode(struct msg *msg, const void *wire, size_t length)
{
	struct wire w;

	if (length != MSG_SIZE)
		return log_fail(
			"the peer sent a message of %zu bytes instead of %d; is it another chapter's program [docs/troubleshooting.md#refused]",
			length, MSG_SIZE);
	/* Copy them, since a peer's bytes may be at any address. */
	memcpy(&w, wire, sizeof(w));
	if (memcmp(w.magic, magic, sizeof(magic)))
		return log_fail(
			"the peer's message does not begin with RDMA; is it another chapter's program [docs/troubleshooting.md#refused]");
	if (w.version != MSG_VERSION)
		return log_fail(
			"the peer speaks version %d, this program version %d; build both from the same source [docs/troubleshooting.md#refused]",
			w.version, MSG_VERSION);
	if (w.reserved)
		return log_fail(
			"the peer's message has a value where there must be zero");
	*msg = (struct msg){
		.type = w.type,
		.mode = w.mode,
		.mem = {
			.addr = be64toh(w.addr),
			.rkey = be32toh(w.rkey),
			.length = be32toh(w.length),
		},
	};
	return check_fields(msg);
}
