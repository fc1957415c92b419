/*
 * explain.c - what a failure means, and what to try
 */
#include "explain.h"

#include <errno.h>
#include <string.h>

#include "log.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define PERMITTED \
	"may this user open /dev/infiniband/rdma_cm [docs/troubleshooting.md#permission]"
#define LOCKED \
	"this memory is locked, and `ulimit -l` says how much of it a process may have [docs/troubleshooting.md#memlock]"
#define DESCRIPTORS "see \"ulimit -n\" for the number of descriptors allowed"

/* The first row that fits is taken. NULL: any call; 0: any errno. */
static const struct {
	const char *call;
	int err;
	const char *hint;
} calls[] = {
	{ NULL, EMFILE, DESCRIPTORS },
	{ NULL, ENFILE, DESCRIPTORS },
	{ "rdma_create_event_channel", ENODEV,
	  "is there an RDMA device (`rdma link`)? if not: sudo scripts/setup_rxe.sh, or use the lab: scripts/lab.sh shell [docs/troubleshooting.md#no-device]" },
	{ "rdma_create_event_channel", 0, PERMITTED },
	{ "rdma_create_id", 0, PERMITTED },
	{ "rdma_ack_cm_event", 0, "rdma_destroy_id() would now hang" },
	{ "rdma_destroy_id", 0, "it is lost" },
	{ "rdma_listen", 0, "give another port with -p" },
	{ "rdma_resolve_addr", 0,
	  "compare -a with `ip addr` on the server and `rdma link` here" },
	{ "rdma_resolve_route", 0, "compare `rdma link` on both ends" },
	{ "rdma_set_option", 0, "is the kernel older than 5.1" },
	{ "rdma_migrate_id", 0, "this client is not served" },
	{ "rdma_create_qp", 0,
	  "did the peer give up in the meantime? if not, see `rdma resource show`" },
	{ "rdma_accept", 0, "did the client give up in the meantime" },
	{ "rdma_connect", ECONNREFUSED,
	  "over iWARP, no server listens there; start it first, with -a" },
	{ "rdma_connect", 0,
	  "does `rdma link` still show the device as ACTIVE" },
	{ "rdma_disconnect", 0, "the connection is closed anyway" },
	{ "ibv_get_device_list", 0,
	  "is the module ib_uverbs loaded; see scripts/setup_rxe.sh --check [docs/troubleshooting.md#no-device]" },
	{ "ibv_close_device", 0, "does a PD or CQ of it still exist" },
	{ "ibv_reg_mr", ENOMEM, LOCKED },
	{ "ibv_reg_mr", EPERM, LOCKED },
	{ "ibv_dereg_mr", 0, "its memory is not freed" },
	{ "ibv_dealloc_pd", 0, "does a memory region of it still exist" },
	{ "ibv_post_send", 0,
	  "is the queue full (max_send_wr), or the queue pair not in RTS [docs/troubleshooting.md#post]" },
	{ "ibv_post_recv", 0,
	  "is the queue full (max_recv_wr), or the queue pair still in RESET [docs/troubleshooting.md#post]" },
	{ NULL, 0, "see `rdma link` and `rdma resource show`" },
};

static const char *hint(const char *call, int err)
{
	size_t i = 0;

	while ((calls[i].call && strcmp(calls[i].call, call)) ||
	       (calls[i].err && calls[i].err != err))
		i++;
	return calls[i].hint;
}

int explain_call(const char *call, int err)
{
	return log_fail_errno(call, err, "%s", hint(call, err));
}

int explain_memory(size_t size, int err)
{
	return log_fail_errno("ibv_reg_mr", err, "%zu bytes: %s", size,
			      hint("ibv_reg_mr", err));
}

static const char *const statuses[] = {
	[IBV_WC_LOC_LEN_ERR] =
		"a message was longer than the receive posted for it; post larger receives or send less [docs/troubleshooting.md#status-1]",
	[IBV_WC_LOC_QP_OP_ERR] =
		"the local device could not carry out the request; for a receive: is it as long as the message, and may its region be written [docs/troubleshooting.md#status-2]",
	[IBV_WC_LOC_PROT_ERR] =
		"the request names memory that its lkey does not cover; compare address, length and lkey [docs/troubleshooting.md#status-4]",
	[IBV_WC_WR_FLUSH_ERR] =
		"the queue pair went to the error state with this request still posted; look for what failed first, here or on the peer [docs/troubleshooting.md#status-5]",
	[IBV_WC_REM_INV_REQ_ERR] =
		"the peer refused the request as invalid; a message longer than its receive, or an operation that its queue pair does not allow [docs/troubleshooting.md#status-9]",
	[IBV_WC_REM_ACCESS_ERR] =
		"the peer's memory region does not allow this; compare rkey, address, length and access flags [docs/troubleshooting.md#status-10]",
	[IBV_WC_REM_OP_ERR] =
		"the peer could not complete the operation; look at what the peer says [docs/troubleshooting.md#status-11]",
	[IBV_WC_RETRY_EXC_ERR] =
		"the peer did not acknowledge, however often it was asked; is it alive, is its address right, do packets reach it (UDP port 4791) [docs/troubleshooting.md#status-12]",
	[IBV_WC_RNR_RETRY_EXC_ERR] =
		"the peer was reached but had no receive posted; post receives before the other side may send [docs/troubleshooting.md#status-13]",
};

int explain_completion(const char *what, const struct ibv_wc *wc)
{
	const char *meaning = NULL;

	if (wc->status < COUNT(statuses))
		meaning = statuses[wc->status];
	if (!meaning)
		meaning =
			"see ibv_poll_cq(3) and the IBTA specification, 11.6.2";
	return log_fail("%s: status %d (%s): %s", what, wc->status,
			ibv_wc_status_str(wc->status), meaning);
}
