/*
 * log_wc.c - what a failed completion means
 */
#include "log_wc.h"

#include "log.h"

/* What a failed completion means, in the order of enum ibv_wc_status. */
static const char *wc_meaning(enum ibv_wc_status status)
{
	switch (status) {
	case IBV_WC_LOC_LEN_ERR:
		return "a message was longer than the receive posted for it; post larger receives or send less [docs/troubleshooting.md#status-1]";
	case IBV_WC_LOC_QP_OP_ERR:
		return "the local device could not carry out the request; for a receive: is it as long as the message, and may its region be written [docs/troubleshooting.md#status-2]";
	case IBV_WC_LOC_PROT_ERR:
		return "the request names memory that its lkey does not cover; compare address, length and lkey [docs/troubleshooting.md#status-4]";
	case IBV_WC_WR_FLUSH_ERR:
		return "the queue pair went to the error state with this request still posted; look for what failed first, here or on the peer [docs/troubleshooting.md#status-5]";
	case IBV_WC_REM_INV_REQ_ERR:
		return "the peer refused the request as invalid; a message longer than its receive, or an operation that its queue pair does not allow [docs/troubleshooting.md#status-9]";
	case IBV_WC_REM_ACCESS_ERR:
		return "the peer's memory region does not allow this; compare rkey, address, length and access flags [docs/troubleshooting.md#status-10]";
	case IBV_WC_REM_OP_ERR:
		return "the peer could not complete the operation; look at what the peer says [docs/troubleshooting.md#status-11]";
	case IBV_WC_RETRY_EXC_ERR:
		return "the peer did not acknowledge, however often it was asked; is it alive, is its address right, do packets reach it (UDP port 4791) [docs/troubleshooting.md#status-12]";
	case IBV_WC_RNR_RETRY_EXC_ERR:
		return "the peer was reached but had no receive posted; post receives before the other side may send [docs/troubleshooting.md#status-13]";
	default:
		return "see ibv_poll_cq(3) and the IBTA specification, 11.6.2";
	}
}

int log_fail_wc(const char *what, const struct ibv_wc *wc)
{
	return log_fail("%s: status %d (%s): %s", what, wc->status,
			ibv_wc_status_str(wc->status), wc_meaning(wc->status));
}
