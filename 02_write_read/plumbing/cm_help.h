/*
 * cm_help.h - the details of the connection manager, and its errors in words
 */
#ifndef CM_HELP_H
#define CM_HELP_H

#include <netdb.h>
#include <stdbool.h>
#include <stdint.h>

#include <rdma/rdma_cma.h>

#include "wait.h"

/* rdma_create_event_channel() failed with err: says why in one line. */
void cm_explain_channel(int err);

/*
 * Makes an id for IPv6 addresses take IPv4 as well, whatever net.ipv6.bindv6only
 * says. Call it before rdma_bind_addr(). Returns 0, or -1 after reporting why.
 */
int cm_take_ipv4(struct rdma_cm_id *id);

/* rdma_bind_addr() to ai failed with err: says why in one line. Returns -1. */
int cm_explain_bind(struct rdma_cm_id *id, const struct addrinfo *ai, int err);

/*
 * The most that address and route resolution may take each, in ms: shorter than
 * the program's own deadline, so that the CM says why.
 */
int cm_resolve_ms(const struct patience *patience);

/*
 * How long a device waits for an acknowledgement before it sends a packet again:
 * 4.096 us times 2 to this power.
 *
 * CM_ACK_ONE is for one message at a time, and a quiet host: 67 ms. We allow
 * 2 ms for the network's round trip (an assumption: a large data centre has
 * less), 11 ms for 128 KiB at 100 Mb/s, and the rest for the peer's processor.
 * A lost packet costs 67 ms, and a peer that is gone costs 7 times as much.
 * CM_ACK_FULL is for a full queue, and a host that may pause for a second:
 * 1.07 s. Nothing is lost in such a pause, and packets that are sent again only
 * lengthen the queue of a host that is late already; rxe (6.1) can even confuse
 * them with new ones [docs/performance.md#rxe-repeats]. Seven times that,
 * 7.5 s, is still less than the 10 s that a program waits, so the device is the
 * first to say what is wrong.
 */
#define CM_ACK_ONE 14
#define CM_ACK_FULL 18

/*
 * Sets that time for the device of id. Call it before rdma_connect() or
 * rdma_accept(). Returns 0, or -1 after reporting why.
 */
int cm_set_ack_timeout(struct rdma_cm_id *id, uint8_t timeout);

/*
 * Whether the side that has accepted may send only once the other side's first
 * message has arrived: over TCP (iWARP). RoCE and InfiniBand have no such rule.
 */
bool cm_has_turns(const struct ibv_context *verbs);

/*
 * The access that a device needs to memory of ours which an RDMA READ fills. On
 * iWARP it includes remote writes, because what a read brings arrives as one.
 */
int cm_read_access(const struct ibv_context *verbs);

/* Whether operations can carry immediate data: on all devices but iWARP. */
bool cm_has_immediate(const struct ibv_context *verbs);

/* Says in one line that event came instead of one of type want, and why. */
void cm_explain_event(const struct rdma_cm_event *event,
		      enum rdma_cm_event_type want);

/*
 * rdma_create_id() or rdma_connect() failed with err: says why in one line.
 * Both return -1.
 */
int cm_explain_create(int err);
int cm_explain_connect(int err);

#endif
