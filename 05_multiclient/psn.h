/*
 * psn.h - the packet sequence number (PSN) to begin with
 */
#ifndef PSN_H
#define PSN_H

#include <stdint.h>

/* How many bits a PSN has, and the largest one. */
#define PSN_BITS 24
#define PSN_MAX ((1U << PSN_BITS) - 1)

/* Draws a PSN. Returns 0, or -1 after reporting why. */
int psn_draw(uint32_t *psn);

#endif
