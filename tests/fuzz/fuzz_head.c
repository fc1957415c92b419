/*
 * fuzz_head.c - the decoder of the headers in 07's stream of files, fed with anything
 *
 * The input is a message: a header and what follows it. Whatever is accepted must be
 * the one way to say what was understood, and speak of no more than is there; and what is
 * fit, which is written here a second time, is accepted.
 */
#include "message.h"

#include <endian.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static uint32_t number(const uint8_t *bytes)
{
	uint32_t value;

	memcpy(&value, bytes, sizeof(value));
	return be32toh(value);
}

static bool is_fit(const uint8_t *bytes, size_t size)
{
	uint8_t type;

	if (size < HEAD_SIZE || memcmp(bytes, "RDMF\4", 5))
		return false;
	type = bytes[5];
	if (type < HEAD_HELLO || type > HEAD_CREDIT)
		return false;
	if (type == HEAD_HELLO ? number(bytes + 36) - 1 >= MODE_BENCH :
				 type != HEAD_WELCOME && number(bytes + 36))
		return false;
	/* What the program reads behind it is there, and nothing else is. */
	return size - HEAD_SIZE == (type == HEAD_HERE ? 0 : number(bytes + 12));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	uint8_t again[HEAD_SIZE];
	struct head head;

	if (!head_decode(&head, bytes, size) != is_fit(bytes, size))
		abort();
	if (!is_fit(bytes, size))
		return 0;
	if (head.type == HEAD_HELLO && !mode_name(head.mode))
		abort();
	head_encode(&head, again);
	if (memcmp(again, bytes, sizeof(again)))
		abort();
	return 0;
}
