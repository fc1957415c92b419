/*
 * hostile_02.c - a peer that does not keep to the protocol of chapter 02
 *
 * Linked into the chapter in place of msg_encode() (ld's --wrap), with a few lines
 * of data.c and pattern.c changed; see build_hostile() in 02_bad_days.bats. Does
 * what a peer that keeps to the protocol would never do:
 *
 *   HOSTILE        "1 4=2 20=255": in the first message, byte 4 becomes 2 and
 *                  byte 20 becomes 255
 *   HOSTILE_SIZE   "1 23": the first message is sent with 23 bytes
 *   HOSTILE_DATA   "100": byte 100 of its memory is wrong; "text": all of it is
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct msg;

void __real_msg_encode(const struct msg *msg, void *wire);
void __wrap_msg_encode(const struct msg *msg, void *wire);
uint32_t hostile_size(void);
char hostile_byte(size_t i, char byte);

/* How many messages have been encoded. */
static int count;

/* What follows the number in variable if that is the current message's. */
static const char *wanted(const char *variable)
{
	const char *text = getenv(variable);
	char *rest;

	if (!text || strtol(text, &rest, 10) != count)
		return "";
	return rest;
}

void __wrap_msg_encode(const struct msg *msg, void *wire)
{
	unsigned int offset, value;
	const char *text;
	int length;

	count++;
	__real_msg_encode(msg, wire);
	text = wanted("HOSTILE");
	while (sscanf(text, "%u=%u%n", &offset, &value, &length) == 2) {
		((uint8_t *)wire)[offset] = value;
		text += length;
	}
}

uint32_t hostile_size(void)
{
	const char *size = wanted("HOSTILE_SIZE");

	return *size ? atoi(size) : 24;
}

/* What stands at i, where byte should. */
char hostile_byte(size_t i, char byte)
{
	static const char *where;

	if (!where)
		where = getenv("HOSTILE_DATA") ? getenv("HOSTILE_DATA") : "";
	if (!strcmp(where, "text"))
		return 'x';
	return byte + (*where && strtoul(where, NULL, 10) == i);
}
