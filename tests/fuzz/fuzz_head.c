/*
 * fuzz_head.c - the decoder of the headers in 07's stream of files, fed with anything
 *
 * The input is a message: a header and what follows it. Whatever is accepted must be
 * the one way to say what was understood, and speak of no more than is there.
 */
#include "message.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	uint8_t again[HEAD_SIZE];
	struct head head;

	if (head_decode(&head, bytes, size))
		return 0;
	if (size < HEAD_SIZE || head.type < HEAD_HELLO ||
	    head.type > HEAD_CREDIT)
		abort();
	/* What the program reads behind it is there, and nothing else is. */
	if (head.type == HEAD_HERE ? size != HEAD_SIZE :
				     head.length != size - HEAD_SIZE)
		abort();
	if (head.type == HEAD_HELLO && !mode_name(head.mode))
		abort();
	head_encode(&head, again);
	if (memcmp(again, bytes, sizeof(again)))
		abort();
	return 0;
}
