/*
 * transfer.c - the conversation about memory, and what is written or read
 */
#include "transfer.h"

#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "explain.h"
#include "iwarp.h"
#include "limit.h"
#include "log.h"
#include "pattern.h"

/* ---- The messages ---- */

/* Raise it with every change to struct msg. */
#define VERSION 1

enum msg_type {
	MSG_MR = 1, /* here is my memory */
	MSG_DONE = 2 /* I am done with your memory */
};

/*
 * A message, as it goes over the wire. Every field has a fixed width and stands
 * at a multiple of it, so that no compiler puts a gap between two of them.
 */
struct msg {
	uint8_t magic[4]; /* RDMA */
	uint8_t version;
	uint8_t type;
	uint8_t mode; /* from here on: 0 in a MSG_DONE */
	uint8_t reserved; /* 0 */
	uint64_t addr; /* big-endian, like all that follows */
	uint32_t rkey;
	uint32_t length; /* bytes */
};

_Static_assert(sizeof(struct msg) == 24, "no gaps in struct msg");

static const uint8_t magic[4] = { 'R', 'D', 'M', 'A' };

/* The fields that type does not use must be zero. */
static int check_fields(const struct msg *msg)
{
	switch (msg->type) {
	case MSG_MR:
		if (msg->mode != MODE_WRITE && msg->mode != MODE_READ)
			return log_fail(
				"the peer's MSG_MR has the unknown mode %d",
				msg->mode);
		return 0;
	case MSG_DONE:
		if (msg->mode || msg->addr || msg->rkey || msg->length)
			return log_fail(
				"the peer's MSG_DONE has a value where there must be zero");
		return 0;
	default:
		return log_fail(
			"the peer sent a message of the unknown type %d",
			msg->type);
	}
}

/* Trusts nothing in a message of length bytes that the peer has sent. */
static int check_msg(const struct msg *msg, uint32_t length)
{
	if (length != sizeof(*msg))
		return log_fail(
			"the peer sent a message of %u bytes instead of %zu; is it another chapter's program [docs/troubleshooting.md#refused]",
			length, sizeof(*msg));
	if (memcmp(msg->magic, magic, sizeof(magic)))
		return log_fail(
			"the peer's message does not begin with RDMA; is it another chapter's program [docs/troubleshooting.md#refused]");
	if (msg->version != VERSION)
		return log_fail(
			"the peer speaks version %d, this program version %d; build both from the same source [docs/troubleshooting.md#refused]",
			msg->version, VERSION);
	if (msg->reserved)
		return log_fail(
			"the peer's message has a value where there must be zero");
	return check_fields(msg);
}

/* ---- The memory ---- */

static struct msg *slot(const struct transfer *t, int i)
{
	return (struct msg *)t->messages.buf + i;
}

/* What our device must be allowed to do to the local region. */
static int local_access(const struct transfer *t)
{
	/* A write only reads what it sends; a read writes what it brings. */
	if (t->mode == MODE_WRITE)
		return 0;
	/* On iWARP, what a read brings comes as a write by the peer. */
	if (iwarp_is(t->conn->id->verbs))
		return IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
	return IBV_ACCESS_LOCAL_WRITE;
}

/* What the peer must be allowed to do to the exposed region. */
static int exposed_access(enum mode mode)
{
	if (mode == MODE_READ)
		return IBV_ACCESS_REMOTE_READ;
	/* The specification requires the local right with the remote one. */
	return IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
}

int transfer_open(struct transfer *t)
{
	struct region *text = t->mode == MODE_WRITE ? &t->local : &t->exposed;
	size_t bytes = t->bytes ? t->bytes : 1024;

	if (limit_check_bytes(t->conn->id->verbs, t->conn->id->port_num, bytes))
		return -1;
	if (region_open(&t->messages, t->conn, SLOT_COUNT * sizeof(struct msg),
			IBV_ACCESS_LOCAL_WRITE))
		return -1;
	if (region_open(&t->local, t->conn, bytes, local_access(t)))
		return -1;
	if (region_open(&t->exposed, t->conn, bytes, exposed_access(t->mode)))
		return -1;
	snprintf(text->buf, bytes, "message from %s side with pid %d", t->who,
		 getpid());
	/* A pattern after the text, so that every byte can be checked. */
	pattern_fill(text->buf, bytes);
	return 0;
}

int transfer_check(const struct transfer *t)
{
	const struct region *result =
		t->mode == MODE_WRITE ? &t->exposed : &t->local;

	log_text("remote buffer: ", result->buf,
		 strnlen(result->buf, result->size));
	if (pattern_check(result->buf, result->size))
		return -1;
	if (t->bytes)
		log_line("%zu bytes verified.", t->bytes);
	return 0;
}

void transfer_close(struct transfer *t)
{
	region_close(&t->exposed);
	region_close(&t->local);
	region_close(&t->messages);
}

/* ---- What we post ---- */

int transfer_post_receives(struct transfer *t)
{
	for (int i = SLOT_RECV; i < SLOT_COUNT; i++)
		if (conn_post_recv(t->conn, &t->messages, slot(t, i),
				   sizeof(struct msg)))
			return -1;
	return 0;
}

static int send_msg(struct transfer *t, enum slot i, struct msg msg)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)slot(t, i),
		.length = sizeof(msg),
		.lkey = t->messages.mr->lkey,
	};
	struct ibv_send_wr wr = {
		/* The completion returns it, to tell the requests apart. */
		.wr_id = (uintptr_t)slot(t, i),
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
	};

	memcpy(msg.magic, magic, sizeof(magic));
	msg.version = VERSION;
	*slot(t, i) = msg;
	return conn_post(t->conn, &wr);
}

static int send_mr(struct transfer *t)
{
	const struct region *exposed = &t->exposed;
	struct msg msg = {
		.type = MSG_MR,
		.mode = t->mode,
		.addr = htobe64((uintptr_t)exposed->buf),
		.rkey = htobe32(exposed->mr->rkey),
		.length = htobe32(exposed->size),
	};

	return send_msg(t, SLOT_SEND_MR, msg);
}

static int send_done(struct transfer *t)
{
	struct msg msg = { .type = MSG_DONE };

	return send_msg(t, SLOT_SEND_DONE, msg);
}

/* Writes all of the local region to the peer's memory, or reads it from there. */
static int post_rdma(struct transfer *t)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)t->local.buf,
		.length = t->local.size,
		.lkey = t->local.mr->lkey,
	};
	struct ibv_send_wr wr = {
		.wr_id = (uintptr_t)t->local.buf,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = t->mode == MODE_WRITE ? IBV_WR_RDMA_WRITE :
						  IBV_WR_RDMA_READ,
		.wr.rdma = {
			.remote_addr = t->peer.addr,
			.rkey = t->peer.rkey,
		},
	};

	return conn_post(t->conn, &wr);
}

/* Both sides know both modes and lengths, so both report a difference. */
static int check_peer(const struct transfer *t)
{
	bool write = t->mode == MODE_WRITE;

	if (t->peer_mode != t->mode)
		return log_fail(
			"this side runs %s and the peer %s; start both with the same word [docs/troubleshooting.md#refused]",
			write ? "write" : "read", write ? "read" : "write");
	if (t->peer.length != t->exposed.size)
		return log_fail(
			"this side has %zu bytes of memory and the peer %u; start both with the same -b [docs/troubleshooting.md#refused]",
			t->exposed.size, t->peer.length);
	if (t->peer.addr + t->peer.length < t->peer.addr)
		return log_fail(
			"the peer's memory would reach beyond the end of the address space: refused");
	return 0;
}

static int start_rdma(struct transfer *t)
{
	bool write = t->mode == MODE_WRITE;

	if (check_peer(t))
		return -1;
	log_line("received MSG_MR. %s remote memory...",
		 write ? "writing message to" : "reading message from");
	log_line("[DEBUG] About to post RDMA %s", write ? "WRITE" : "READ");
	log_line("[DEBUG] peer_mr.addr=0x%" PRIx64 ", peer_mr.rkey=0x%" PRIx32,
		 t->peer.addr, t->peer.rkey);
	log_line("[DEBUG] local_region=%p, lkey=0x%" PRIx32, t->local.buf,
		 t->local.mr->lkey);
	return post_rdma(t);
}

/* ---- What happens ---- */

/* Returns 0; 1 when the transfer is over; or -1 after reporting why. */
static int on_event(struct transfer *t, enum event event)
{
	switch (state_step(&t->states, event)) {
	case ACT_NOTHING:
		return 0;
	case ACT_SEND_MR:
		return send_mr(t);
	case ACT_START_RDMA:
		return start_rdma(t);
	case ACT_SEND_DONE:
		return send_done(t);
	case ACT_FINISH:
		return 1;
	default:
		return -1;
	}
}

/* One of the peer's messages is here. */
static int on_receive(struct transfer *t, const struct ibv_wc *wc)
{
	struct msg msg;

	/* Copy it, so that what is used is what was checked. */
	memcpy(&msg, (const void *)(uintptr_t)wc->wr_id, sizeof(msg));
	if (check_msg(&msg, wc->byte_len))
		return -1;
	if (msg.type == MSG_DONE)
		return on_event(t, EV_DONE_RECEIVED);
	/* A second one is an error, and must not replace the first. */
	if (t->states.recv == RS_INIT) {
		t->peer_mode = msg.mode;
		t->peer.addr = be64toh(msg.addr);
		t->peer.rkey = be32toh(msg.rkey);
		t->peer.length = be32toh(msg.length);
	}
	return on_event(t, EV_MR_RECEIVED);
}

/* One of our requests is complete: which one? */
static int on_send(struct transfer *t, const struct ibv_wc *wc)
{
	log_line("send completed successfully.");
	if (wc->wr_id == (uintptr_t)slot(t, SLOT_SEND_MR))
		return on_event(t, EV_MR_SENT);
	if (wc->wr_id == (uintptr_t)slot(t, SLOT_SEND_DONE))
		return on_event(t, EV_DONE_SENT);
	return on_event(t, EV_RDMA_DONE);
}

/* The request with wr_id, in words. */
static const char *request_name(const struct transfer *t, uint64_t wr_id)
{
	if (wr_id == (uintptr_t)slot(t, SLOT_SEND_MR))
		return "send of MSG_MR";
	if (wr_id == (uintptr_t)slot(t, SLOT_SEND_DONE))
		return "send of MSG_DONE";
	if (wr_id == (uintptr_t)t->local.buf)
		return "RDMA operation";
	return "receive";
}

static void log_completion(const struct transfer *t, const struct ibv_wc *wc)
{
	char opcode[32] = "";

	/* The opcode of a failed completion is not defined. */
	if (wc->status == IBV_WC_SUCCESS)
		snprintf(opcode, sizeof(opcode), "opcode=%d, ", wc->opcode);
	log_line("[on_completion] wr_id=0x%" PRIx64
		 ", status=%d (%s), %ssend_state=%d, recv_state=%d",
		 wc->wr_id, wc->status, ibv_wc_status_str(wc->status), opcode,
		 t->states.send, t->states.recv);
}

static int on_completion(struct transfer *t, const struct ibv_wc *wc)
{
	log_completion(t, wc);
	/* Check the status first: without success, little else is defined. */
	if (wc->status != IBV_WC_SUCCESS)
		return explain_completion(request_name(t, wc->wr_id), wc);
	switch (wc->opcode) {
	case IBV_WC_RECV:
		return on_receive(t, wc);
	case IBV_WC_SEND:
	case IBV_WC_RDMA_WRITE:
	case IBV_WC_RDMA_READ:
		return on_send(t, wc);
	default:
		/* A write with immediate data takes a receive as well. */
		return log_fail(
			"protocol error: a completion with opcode %d, which nothing that was posted asks for; is the peer another program",
			wc->opcode);
	}
}

int transfer_start(struct transfer *t)
{
	return on_event(t, EV_START);
}

int transfer_run(struct transfer *t)
{
	struct ibv_wc wc;
	int ret;

	do {
		if (conn_wait(t->conn, &wc))
			return -1;
		ret = on_completion(t, &wc);
	} while (ret == 0);
	return ret < 0 ? -1 : 0;
}
