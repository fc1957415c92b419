/*
 * content.c - what is written or read, and whether it arrived intact
 */
#include "content.h"

#include <stdio.h>
#include <string.h>

#include "log.h"
#include "pattern.h"

/* The text that begins each message. */
static void write_text(char text[PATTERN_MIN], const char *who,
		       unsigned int number)
{
	snprintf(text, PATTERN_MIN, "message from %s client %u", who, number);
}

void content_write(const struct data *data, enum mode mode, const char *who,
		   unsigned int number)
{
	const struct region *region =
		mode == MODE_WRITE ? &data->local : &data->exposed;

	/* Memory is at least this large: see options.c. */
	write_text(region->buf, who, number);
	pattern_fill(region->buf, region->size);
}

int content_check(const struct data *data, enum mode mode, bool counts,
		  const char *who, unsigned int number)
{
	const struct region *result =
		mode == MODE_WRITE ? &data->exposed : &data->local;
	char text[PATTERN_MIN];

	log_text("remote buffer: ", result->buf,
		 strnlen(result->buf, result->size));
	if (pattern_check(result->buf, result->size))
		return -1;
	write_text(text, who, number);
	if (strncmp(result->buf, text, PATTERN_MIN))
		return log_fail(
			"these bytes are not client %u's, but another's, or nobody's [docs/troubleshooting.md#wrong-bytes]",
			number);
	if (counts)
		log_line("%zu bytes verified.", result->size);
	return 0;
}
