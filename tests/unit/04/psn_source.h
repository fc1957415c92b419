/*
 * psn_source.h - chapter 04's source of random numbers, in a test's hands
 *
 * RAND_bytes(3) gives what a test wants, or the real thing.
 */
#ifndef PSN_SOURCE_H
#define PSN_SOURCE_H

#include <string.h>

#include <openssl/rand.h>

#define SOURCE "RAND_bytes"

static const uint8_t *planned; /* NULL: really random ones */
static int answer = 1;
static size_t asked;
static unsigned int calls;
static const unsigned int flagged; /* it has no flags */

/* 0 and -1 are both failures. */
static const int failures[] = { 0, -1 };

int RAND_bytes(unsigned char *buf, int num)
{
	calls++;
	asked += num;
	if (answer != 1)
		return answer;
	if (!planned)
		return RAND_bytes_ex(NULL, buf, num, 0);
	memcpy(buf, planned, num);
	return 1;
}

static void source_fails(int i)
{
	answer = i < 0 ? 1 : failures[i];
}

#endif
