/*
 * peer.h - is the peer still there, and is it done?
 *
 * In chapter 02 the CM said so: DISCONNECTED. Verbs say nothing about a peer
 * that has left. So the connection of the exchange stays open until the end:
 * the kernel closes it when the peer's program ends, however it ends, and a
 * side that is done says goodbye first. Any program without the CM needs this,
 * but the chapter is not about it.
 *
 *     client                          server
 *     (has all)
 *     bye              -->
 *                                     (has all, and its sends are complete)
 *                      <--            bye
 *
 * A side that lacks something says no goodbye, so the other one fails, too: the
 * success of its requests is no proof that they were delivered.
 */
#ifndef PEER_H
#define PEER_H

#include "conn.h"

/*
 * A descriptor that becomes readable when there is news of the peer, and what to
 * call then. If the peer left without a goodbye, peer_check() puts the queue pair
 * in the error state, so that every request still posted is flushed: it comes back
 * as a completion. Returns 0, or -1 after reporting why.
 */
int peer_fd(const struct conn *conn);
int peer_check(struct conn *conn);

/*
 * Client: says goodbye, and waits for the server's, at most a second once it is
 * asked to stop. Server: waits at most timeout_ms for the client's, and then says
 * its own. Both return 0, or -1 after reporting why.
 */
int peer_disconnect(struct conn *conn);
int peer_wait_disconnect(struct conn *conn, int timeout_ms);

#endif
