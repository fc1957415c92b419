/*
 * head.c - the header of each message in a stream of files, and how it is checked
 */
#include "head.h"

#include <endian.h>
#include <string.h>

#include "log.h"
#include "msg.h"

static const uint8_t magic[4] = { 'R', 'D', 'M', 'F' };

/* Every field is at a multiple of its own size; all are big-endian. */
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
	uint32_t reserved; /* 0 */
};

_Static_assert(sizeof(struct wire) == HEAD_SIZE, "no gaps in struct wire");

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
	struct wire w = {
		.version = MSG_VERSION,
		.type = head->type,
		.credits = htobe16(head->credits),
		.done = htobe32(head->done),
		.length = htobe32(head->length),
		.number = htobe64(head->number),
		.addr = htobe64(head->addr),
		.rkey = htobe32(head->rkey),
	};

	memcpy(w.magic, magic, sizeof(magic));
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
	struct wire w;

	if (size < HEAD_SIZE)
		return log_fail(
			"protocol error: a message of %zu bytes is too short for a header",
			size);
	memcpy(&w, wire, sizeof(w));
	if (memcmp(w.magic, magic, sizeof(magic)) || w.version != MSG_VERSION ||
	    w.reserved)
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
