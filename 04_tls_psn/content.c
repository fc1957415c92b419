/*
 * content.c - what is written or read, and whether it arrived intact
 */
#include "content.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "log.h"
#include "pattern.h"

void content_write(const struct data *data, enum mode mode, const char *who)
{
	const struct region *region =
		mode == MODE_WRITE ? &data->local : &data->exposed;

	snprintf(region->buf, region->size, "message from %s side with pid %d",
		 who, getpid());
	pattern_fill(region->buf, region->size);
}

int content_check(const struct data *data, enum mode mode, bool counts)
{
	const struct region *result =
		mode == MODE_WRITE ? &data->exposed : &data->local;

	log_text("remote buffer: ", result->buf,
		 strnlen(result->buf, result->size));
	if (pattern_check(result->buf, result->size))
		return -1;
	if (counts)
		log_line("%zu bytes verified.", result->size);
	return 0;
}
