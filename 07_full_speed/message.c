/*
 * message.c - what goes over the wire, and how it is checked
 */
#include "message.h"

#include <endian.h>
#include <string.h>

#include "log.h"

static const uint8_t magic[4] = { 'R', 'D', 'M', 'F' };

/*
 * The layout on the wire. Every field is at a multiple of its own size, so that no
 * compiler puts a gap between two of them; all are big-endian.
 */
struct wire {
	uint8_t magic[4];
	uint8_t version;
	uint8_t type;
	uint16_t credits;
	uint32_t done;
	uint32_t length;
	uint64_t number;
	uint64_t addr;
	uint32_t rkey;
	uint32_t mode; /* or depth */
};

_Static_assert(sizeof(struct wire) == HEAD_SIZE, "no gaps in struct wire");

const char *mode_name(enum mode mode)
{
	static const char *const names[] = {
		[MODE_SEND] = "send",
		[MODE_WRITE] = "write",
		[MODE_READ] = "read",
		[MODE_BENCH] = "benchmark",
	};

	return names[mode];
}

void head_encode(const struct head *head, void *wire)
{
	struct wire w = {
		.version = MESSAGE_VERSION,
		.type = head->type,
		.credits = htobe16(head->credits),
		.done = htobe32(head->done),
		.length = htobe32(head->length),
		.number = htobe64(head->number),
		.addr = htobe64(head->addr),
		.rkey = htobe32(head->rkey),
		.mode = htobe32(head->depth),
	};

	memcpy(w.magic, magic, sizeof(magic));
	memcpy(wire, &w, sizeof(w));
}

int head_decode(struct head *head, const void *wire, size_t size)
{
	struct wire w;
	size_t due;

	if (size < HEAD_SIZE)
		return log_fail(
			"protocol error: a message of %zu bytes is too short for a header [docs/troubleshooting.md#refused]",
			size);
	/* Copied before it is looked at: a peer could still change what is there. */
	memcpy(&w, wire, sizeof(w));
	if (memcmp(w.magic, magic, sizeof(magic)) ||
	    w.version != MESSAGE_VERSION)
		return log_fail(
			"protocol error: a message that does not begin with a header of this version; is it another chapter's program [docs/troubleshooting.md#refused]");
	*head = (struct head){
		.type = w.type,
		.credits = be16toh(w.credits),
		.done = be32toh(w.done),
		.length = be32toh(w.length),
		.number = be64toh(w.number),
		.addr = be64toh(w.addr),
		.rkey = be32toh(w.rkey),
		.depth = be32toh(w.mode),
	};
	if (head->type < HEAD_HELLO || head->type > HEAD_CREDIT ||
	    (head->type == HEAD_HELLO ?
		     !head->mode || head->mode > MODE_BENCH :
		     head->type != HEAD_WELCOME && head->mode))
		return log_fail(
			"protocol error: a message of the unknown type %d, or mode %d",
			head->type, head->mode);
	/* What follows is neither more nor less. */
	due = head->type == HEAD_HERE ? 0 : head->length;
	if (size - HEAD_SIZE == due)
		return 0;
	return log_fail(
		"protocol error: %zu bytes after a header that announces %zu",
		size - HEAD_SIZE, due);
}
