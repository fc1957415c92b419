/*
 * message.c - what goes over the wire, and how it is checked
 */
#include "message.h"

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

const char *msg_mode_name(enum mode mode)
{
	switch (mode) {
	case MODE_WRITE:
		return "write";
	case MODE_READ:
		return "read";
	case MODE_BENCH:
		return "benchmark";
	case MODE_SEND:
		return "send";
	}
	return "unknown";
}

void msg_encode(const struct msg *msg, void *wire)
{
	struct wire w = {
		.version = MSG_VERSION,
		.type = msg->type,
		.mode = msg->mode,
		.addr = htobe64(msg->mem.addr),
		.rkey = htobe32(msg->type == MSG_FILES ? msg->depth :
							 msg->mem.rkey),
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
		if (msg->mode < MODE_WRITE || msg->mode > MODE_SEND)
			return log_fail(
				"the peer's MSG_MR has the unknown mode %d",
				msg->mode);
		return msg_check_memory(mem);
	case MSG_BENCH:
		if (msg->mode || mem->addr || mem->rkey)
			break;
		return msg_check_memory(mem);
	case MSG_FILES:
		if (msg->mode != MODE_SEND && msg->mode != MODE_WRITE &&
		    msg->mode != MODE_READ)
			return log_fail(
				"the peer's MSG_FILES has the unknown mode %d",
				msg->mode);
		if (mem->addr)
			break;
		return msg_check_memory(mem);
	case MSG_DONE:
		if (msg->mode || mem->addr || mem->rkey || mem->length)
			break;
		return 0;
	default:
		return log_fail(
			"the peer sent a message of the unknown type %d",
			msg->type);
	}
	return log_fail(
		"the peer's message of type %d has a value where there must be zero",
		msg->type);
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
	if (msg->type == MSG_FILES) {
		msg->depth = msg->mem.rkey;
		msg->mem.rkey = 0;
	}
	return check_fields(msg);
}

/* ---- The header ---- */

static const uint8_t head_magic[4] = { 'R', 'D', 'M', 'F' };

/* Every field is at a multiple of its own size; all are big-endian. */
struct wire_head {
	uint8_t magic[4];
	uint8_t version;
	uint8_t type;
	uint16_t credits;
	uint32_t done;
	uint32_t length;
	uint64_t number;
	uint64_t addr;
	uint32_t rkey;
	uint32_t reserved; /* 0 */
};

_Static_assert(sizeof(struct wire_head) == HEAD_SIZE,
	       "no gaps in struct wire_head");

const char *head_refusal(uint64_t number)
{
	static const char *const words[REFUSAL_COUNT] = {
		[REFUSAL_NAME] = "it does not take a file of that name",
		[REFUSAL_NO_DIRECTORY] =
			"it has no directory for files; start it with -d DIRECTORY",
		[REFUSAL_NOT_WRITTEN] =
			"it cannot write the file; see what it says",
		[REFUSAL_WRONG_DATA] =
			"what arrived is not what was sent; send it again",
		[REFUSAL_THERE] =
			"it has a file of that name, and does not replace it",
		[REFUSAL_NO_ROOM] =
			"it does not take that much in all; see what it says",
	};

	return number && number < REFUSAL_COUNT ? words[number] :
						  "for no known reason";
}

void head_encode(const struct head *head, void *wire)
{
	struct wire_head w = {
		.version = MSG_VERSION,
		.type = head->type,
		.credits = htobe16(head->credits),
		.done = htobe32(head->done),
		.length = htobe32(head->length),
		.number = htobe64(head->number),
		.addr = htobe64(head->addr),
		.rkey = htobe32(head->rkey),
	};

	memcpy(w.magic, head_magic, sizeof(w.magic));
	memcpy(wire, &w, sizeof(w));
}

/* How many bytes must follow a header: neither more nor fewer. */
static int check_size(const struct head *head, size_t size)
{
	size_t due = head->type == HEAD_HERE ? 0 : head->length;

	if (size - HEAD_SIZE == due)
		return 0;
	return log_fail(
		"protocol error: %zu bytes after a header that announces %zu",
		size - HEAD_SIZE, due);
}

int head_decode(struct head *head, const void *wire, size_t size)
{
	struct wire_head w;

	if (size < HEAD_SIZE)
		return log_fail(
			"protocol error: a message of %zu bytes is too short for a header",
			size);
	memcpy(&w, wire, sizeof(w));
	if (memcmp(w.magic, head_magic, sizeof(w.magic)) ||
	    w.version != MSG_VERSION || w.reserved)
		return log_fail(
			"protocol error: a message that does not begin with a header of this version");
	if (w.type < HEAD_BEGIN || w.type > HEAD_BYE)
		return log_fail(
			"protocol error: a message of the unknown type %d",
			w.type);
	*head = (struct head){
		.type = w.type,
		.credits = be16toh(w.credits),
		.done = be32toh(w.done),
		.length = be32toh(w.length),
		.number = be64toh(w.number),
		.addr = be64toh(w.addr),
		.rkey = be32toh(w.rkey),
	};
	return check_size(head, size);
}
