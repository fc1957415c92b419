/*
 * checksum.h - a number that differs if the bytes do
 */
#ifndef CHECKSUM_H
#define CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/*
 * FNV-1a, 64 bits. It notices accidents. Somebody who wants to can find other
 * bytes with the same number.
 */
uint64_t checksum(const void *bytes, size_t length);

#endif
