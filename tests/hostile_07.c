/*
 * hostile_07.c - a peer that does not keep to the protocol of chapter 07
 *
 * Preloaded into the chapter's own server or client. HOSTILE says which one of its
 * requests is changed, over all its connections, and what in it:
 *
 *   "RDMF 1 2 40=46"    the second header of type 1: byte 40, which is the first
 *                       one behind the header, becomes 46
 *   "RDMA 5 1 19=3"     the same for the messages of chapter 02
 *   "write 20 rkey=1"   the 20th write: bit 0 of its rkey is flipped
 *   "read 3 addr=100"   the third read: from 100 bytes further on
 *   "data 100"          byte 100 of what it writes, or lends to be read, is wrong;
 *                       "data text": all that it writes is a text
 *
 * Several changes may follow each other. There are also size=N: N bytes are sent;
 * and imm=N: another immediate value. A message with imm=N becomes a write of
 * nothing with that value.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <infiniband/verbs.h>

/* A test that is set up wrongly must not look like one that passed. */
static void give_up(const char *why)
{
	fprintf(stderr, "hostile_07: %s\n", why);
	_exit(97);
}

static int (*real_post_send)(struct ibv_qp *qp, struct ibv_send_wr *wr,
			     struct ibv_send_wr **bad);

/* Whether wr is of the kind that HOSTILE names; *nth is the number there. */
static bool is_kind(const struct ibv_send_wr *wr, unsigned int *nth,
		    const char **changes)
{
	const char *text = getenv("HOSTILE");
	const uint8_t *bytes = (void *)(uintptr_t)wr->sg_list[0].addr;
	unsigned int type;
	int length = 0;

	if (!text)
		return false;
	if (sscanf(text, "write %u%n", nth, &length) == 1) {
		*changes = text + length;
		return wr->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
	}
	if (sscanf(text, "read %u%n", nth, &length) == 1) {
		*changes = text + length;
		return wr->opcode == IBV_WR_RDMA_READ;
	}
	if (sscanf(text, "RDM%*1[AF] %u %u%n", &type, nth, &length) != 2)
		give_up(text);
	*changes = text + length;
	return wr->opcode == IBV_WR_SEND && !memcmp(bytes, text, 4) &&
	       bytes[5] == type;
}

static void change_byte(struct ibv_send_wr *wr, unsigned int offset,
			uint8_t value)
{
	struct ibv_sge *piece = wr->sg_list;

	while (offset >= piece->length) {
		offset -= piece->length;
		if (++piece == wr->sg_list + wr->num_sge)
			give_up("there is no such byte");
	}
	((uint8_t *)(uintptr_t)piece->addr)[offset] = value;
}

static void change(struct ibv_send_wr *wr, const char *name, uint64_t value)
{
	struct ibv_sge *last = wr->sg_list + wr->num_sge - 1;

	if (!strcmp(name, "rkey")) {
		wr->wr.rdma.rkey ^= value;
	} else if (!strcmp(name, "addr")) {
		wr->wr.rdma.remote_addr += value;
	} else if (!strcmp(name, "size")) {
		last->length = value;
		if (last != wr->sg_list)
			last->length -= wr->sg_list->length;
	} else if (!strcmp(name, "imm")) {
		if (wr->opcode == IBV_WR_SEND) {
			wr->opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
			wr->num_sge = 0;
			wr->wr.rdma.remote_addr = wr->wr.rdma.rkey = 0;
		}
		wr->imm_data = htobe32(value);
	} else {
		change_byte(wr, atoi(name), value);
	}
}

/* With MSG_MR, what the peer may read is ready; a write is what the peer gets. */
static void spoil_data(const struct ibv_send_wr *wr, const char *where)
{
	const struct ibv_sge *sge = wr->sg_list;
	uint8_t *bytes = (void *)(uintptr_t)sge->addr;
	uint64_t lent;

	if (wr->opcode == IBV_WR_RDMA_WRITE && !strcmp(where, "text")) {
		memset(bytes, 'x', sge->length);
	} else if (wr->opcode == IBV_WR_RDMA_WRITE) {
		bytes[atoi(where)]++;
	} else if (wr->opcode == IBV_WR_SEND && !memcmp(bytes, "RDMA", 4) &&
		   bytes[5] == 1) {
		memcpy(&lent, bytes + 8, sizeof(lent));
		((uint8_t *)(uintptr_t)be64toh(lent))[atoi(where)]++;
	}
}

/* Changes it, if it is the one that HOSTILE names. */
static void spoil(struct ibv_send_wr *wr)
{
	static unsigned int count;
	unsigned long long value;
	const char *changes;
	unsigned int nth;
	char name[8];
	int length;

	if (!strncmp(getenv("HOSTILE") ?: "", "data ", 5)) {
		spoil_data(wr, getenv("HOSTILE") + 5);
		return;
	}
	if (is_kind(wr, &nth, &changes) && ++count == nth)
		while (sscanf(changes, " %7[^= ]=%llu%n", name, &value,
			      &length) == 2) {
			change(wr, name, value);
			changes += length;
		}
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr,
		     struct ibv_send_wr **bad)
{
	for (struct ibv_send_wr *each = wr; each; each = each->next)
		spoil(each);
	return real_post_send(qp, wr, bad);
}

/* A program that posts anything allocates a protection domain first. */
struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	struct ibv_pd *(*real)(struct ibv_context *) =
		dlsym(RTLD_NEXT, "ibv_alloc_pd");

	if (!real)
		give_up("no ibv_alloc_pd");
	if (context->ops.post_send != post_send) {
		real_post_send = context->ops.post_send;
		context->ops.post_send = post_send;
	}
	return real(context);
}
