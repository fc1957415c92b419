/*
 * transfer.c - the conversation about memory, and what is written or read
 */
#include "transfer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "explain.h"
#include "limit.h"
#include "log.h"
#include "pattern.h"

/* ---- The message ---- */

/*
 * MSG_DONE, "I am done with your memory", as it goes over the wire: "RDMA", its version,
 * its type, zeros. What chapter 02's MSG_MR said, the line of parameters says: see params.c.
 */
struct msg {
	uint8_t bytes[8];
};

static const struct msg done = { .bytes = { 'R', 'D', 'M', 'A', 3, 2 } };

/* ---- The memory ---- */

static struct msg *slot(const struct transfer *t, int i)
{
	return (struct msg *)t->messages.buf + i;
}

/* What our device must be allowed to do to the local region. */
static int local_access(enum mode mode)
{
	/* A write only reads what it sends; a read writes what it brings. */
	return mode == MODE_WRITE ? 0 : IBV_ACCESS_LOCAL_WRITE;
}

/* What the peer must be allowed to do to the exposed region. */
static int exposed_access(enum mode mode)
{
	if (mode == MODE_READ)
		return IBV_ACCESS_REMOTE_READ;
	/* The specification requires the local right with the remote one. */
	return IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
}

unsigned int transfer_access(enum mode mode)
{
	/* Only the region needs the local right. */
	return exposed_access(mode) & ~IBV_ACCESS_LOCAL_WRITE;
}

int transfer_open(struct transfer *t)
{
	struct region *text = t->mode == MODE_WRITE ? &t->local : &t->exposed;
	const struct device *device = t->conn->device;
	size_t bytes = t->bytes ? t->bytes : 1024;

	if (limit_check_bytes(device->verbs, device->port_num, bytes))
		return -1;
	if (region_open(&t->messages, t->conn, SLOT_COUNT * sizeof(struct msg),
			IBV_ACCESS_LOCAL_WRITE))
		return -1;
	if (region_open(&t->local, t->conn, bytes, local_access(t->mode)))
		return -1;
	if (region_open(&t->exposed, t->conn, bytes, exposed_access(t->mode)))
		return -1;
	snprintf(text->buf, bytes, "message from %s side with pid %d", t->who,
		 getpid());
	/* A pattern after the text, so that every byte can be checked. */
	pattern_fill(text->buf, bytes);
	/* This goes out with our parameters. */
	t->conn->mine.mode = t->mode;
	t->conn->mine.mem = (struct remote){
		.addr = (uintptr_t)t->exposed.buf,
		.rkey = t->exposed.mr->rkey,
		.length = t->exposed.size,
	};
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
	return conn_post_recv(t->conn, &t->messages, slot(t, SLOT_RECV),
			      sizeof(struct msg));
}

static int send_done(struct transfer *t)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)slot(t, SLOT_SEND_DONE),
		.length = sizeof(done),
		.lkey = t->messages.mr->lkey,
	};
	struct ibv_send_wr wr = {
		/* The completion returns it, to tell the requests apart. */
		.wr_id = (uintptr_t)slot(t, SLOT_SEND_DONE),
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
	};

	*slot(t, SLOT_SEND_DONE) = done;
	return conn_post(t->conn, &wr);
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
			.remote_addr = t->conn->peer.mem.addr,
			.rkey = t->conn->peer.mem.rkey,
		},
	};

	return conn_post(t->conn, &wr);
}

/* Both sides know both modes and lengths, so both report a difference. */
static int check_peer(const struct transfer *t)
{
	const struct params *peer = &t->conn->peer;
	bool write = t->mode == MODE_WRITE;

	if (peer->mode != t->mode)
		return log_fail(
			"this side runs %s and the peer %s; start both with the same word [docs/troubleshooting.md#refused]",
			write ? "write" : "read", write ? "read" : "write");
	if (peer->mem.length != t->exposed.size)
		return log_fail(
			"this side has %zu bytes of memory and the peer %u; start both with the same -b [docs/troubleshooting.md#refused]",
			t->exposed.size, peer->mem.length);
	return 0;
}

static int start_rdma(struct transfer *t)
{
	const struct remote *peer = &t->conn->peer.mem;
	bool write = t->mode == MODE_WRITE;

	if (check_peer(t))
		return -1;
	log_line("memory regions exchanged. %s remote memory...",
		 write ? "writing message to" : "reading message from");
	log_line("[DEBUG] About to post RDMA %s", write ? "WRITE" : "READ");
	log_line("[DEBUG] peer_mr.addr=0x%" PRIx64 ", peer_mr.rkey=0x%" PRIx32,
		 peer->addr, peer->rkey);
	log_line("[DEBUG] local_region=%p, lkey=0x%" PRIx32, t->local.buf,
		 t->local.mr->lkey);
	return post_rdma(t);
}

/* ---- What happens ---- */

/* The peer's message is here. There is only one that it can be. */
static int on_receive(struct transfer *t, const struct ibv_wc *wc)
{
	struct msg msg;

	/* Copy it, so that what is used is what was checked. */
	memcpy(&msg, (const void *)(uintptr_t)wc->wr_id, sizeof(msg));
	if (wc->byte_len != sizeof(msg) ||
	    memcmp(msg.bytes, done.bytes, sizeof(msg.bytes)))
		return log_fail(
			"the peer's message is not this version's MSG_DONE; is it another chapter's program [docs/troubleshooting.md#refused]");
	t->received++;
	return 0;
}

/* One of our requests is complete: the first is the write or read. */
static int on_send(struct transfer *t)
{
	log_line("send completed successfully.");
	return ++t->sent == 1 ? send_done(t) : 0;
}

/* The request with wr_id, in words. */
static const char *request_name(const struct transfer *t, uint64_t wr_id)
{
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
		 t->sent, t->received);
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
		return on_send(t);
	default:
		/* A write with immediate data takes a receive as well. */
		return log_fail(
			"protocol error: a completion with opcode %d, which nothing that was posted asks for; is the peer another program",
			wc->opcode);
	}
}

/* What is waited for, in words. */
static const char *awaited(const struct transfer *t)
{
	switch (t->sent) {
	case 0:
		return "the completion of our RDMA operation";
	case 1:
		return "the completion of our MSG_DONE";
	default:
		return "the peer's MSG_DONE (that ours was sent with success is no proof that it was delivered)";
	}
}

int transfer_run(struct transfer *t)
{
	struct ibv_wc wc;

	if (start_rdma(t))
		return -1;
	/*
	 * In any order: the peer may be ahead of us, as its MSG_DONE can be here
	 * before our own write or read is complete. An acknowledgement may be late.
	 */
	while (t->sent < 2 || !t->received) {
		t->conn->awaits = awaited(t);
		if (conn_wait(t->conn, &wc) || on_completion(t, &wc))
			return -1;
	}
	return 0;
}
