/*
 * checksum.c - a number that differs if the bytes do
 */
#include "checksum.h"

uint64_t checksum(const void *bytes, size_t length)
{
	const uint8_t *at = bytes;
	uint64_t sum = 0xcbf29ce484222325;

	for (size_t i = 0; i < length; i++)
		sum = (sum ^ at[i]) * 0x100000001b3;
	return sum;
}
