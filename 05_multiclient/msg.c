/*
 * msg.c - the messages that go over the wire, and how they are checked
 */
#include "msg.h"

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
	uint8_t reserved[2]; /* 0 */
};

_Static_assert(sizeof(struct wire) == MSG_SIZE, "no gaps in struct wire");

void msg_encode(const struct msg *msg, void *wire)
{
	struct wire w = {
		.version = MSG_VERSION,
		.type = msg->type,
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
	if (w.reserved[0] || w.reserved[1])
		return log_fail(
			"the peer's message has a value where there must be zero");
	if (w.type != MSG_DONE)
		return log_fail(
			"the peer sent a message of the unknown type %d",
			w.type);
	*msg = (struct msg){ .type = w.type };
	return 0;
}
