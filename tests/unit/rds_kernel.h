/*
 * rds_kernel.h - a kernel's RDS, as a program sees it, without one
 *
 * The system calls of a socket are played here. What is to be received is put
 * into a queue beforehand, with whom it comes from; what is sent is looked at,
 * and goes nowhere. For the test_06_*.c.
 */
#ifndef RDS_KERNEL_H
#define RDS_KERNEL_H

#include "rds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <arpa/inet.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "test.h"
#include "dgram.h"

/* What one recvmsg() brings; where from is nobody, only the control message. */
struct incoming {
	struct sockaddr_in from;
	int control; /* RDS_CMSG_*; 0: none */
	union {
		rds_rdma_cookie_t key;
		uint64_t ports;
		struct rds_rdma_notify completion;
	} beside;
	size_t control_size;
	char bytes[DGRAM_HEADER + 2 * DGRAM_TEXT_MAX];
	size_t length;
	bool truncated; /* there was more than the program had room for */
};

static struct kernel {
	struct incoming queue[16];
	unsigned int put, taken;
	volatile bool endless; /* the queue begins anew after its last */
	int fd; /* readable as long as something is queued */
	int first; /* the first socket, which is not for pings */
	unsigned int sent;
	struct sockaddr_in sent_to; /* the last */
	int refusal; /* errno of sendmsg() to refused_port */
	unsigned int refused_from; /* the number of the first that is refused */
	int refused_port;
	const char *source; /* the memory of the last RDMA request */
	unsigned int calls; /* of sendmsg(), refused or not */
	int no_connection; /* errno of a loan before a pong was heard; 0: none */
	bool pongs; /* what is sent to port 0 is answered, at its own socket */
	unsigned int strangers; /* who write to that socket before the pong */
	struct sockaddr_in pong_from;
	int pong_to; /* the descriptor */
	struct rds_get_mr_args loan; /* the last */
	rds_rdma_cookie_t keys; /* how many were given: 1, 2, ... */
	rds_rdma_cookie_t freed[64]; /* by RDS_FREE_MR; 0: all that were used */
	unsigned int frees;
	struct sockaddr_in cancelled; /* the last of RDS_CANCEL_SENT_TO */
	uint64_t resets; /* the counter conn_reset */
} kernel;

static struct sockaddr_in someone(const char *address, int port)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
	};

	assert_int_equal(inet_pton(AF_INET, address, &addr.sin_addr), 1);
	return addr;
}

static void kernel_reset(void)
{
	kernel = (struct kernel){
		.fd = -1,
		.refused_port = -1,
		.first = -1,
		.pong_to = -1,
	};
}

/* Queues something empty. */
static struct incoming *kernel_put(void)
{
	static const uint64_t one = 1;

	assert_true(kernel.put <
		    sizeof(kernel.queue) / sizeof(struct incoming));
	assert_int_equal(write(kernel.fd, &one, sizeof(one)), sizeof(one));
	return &kernel.queue[kernel.put++];
}

static inline struct incoming *kernel_datagram(const char *address, int port,
					       enum dgram_type type,
					       const char *text)
{
	struct incoming *in = kernel_put();

	in->from = someone(address, port);
	if (!type)
		return in;
	dgram_header(in->bytes, type, 0);
	strcpy(in->bytes + DGRAM_HEADER, text);
	in->length = DGRAM_HEADER + strlen(text);
	return in;
}

static inline void kernel_ports(uint64_t ports)
{
	struct incoming *in = kernel_put();

	in->control = RDS_CMSG_CONG_UPDATE;
	in->control_size = sizeof(in->beside.ports);
	in->beside.ports = ports;
}

static inline void kernel_key(struct incoming *in, rds_rdma_cookie_t key)
{
	in->control = RDS_CMSG_RDMA_DEST;
	in->control_size = sizeof(in->beside.key);
	in->beside.key = key;
}

/* An answer of another kernel: now there is a connection. */
static ssize_t recv_pong(struct msghdr *msg)
{
	struct sockaddr_in from = someone("198.51.100.7", 4000);

	if (kernel.strangers) {
		kernel.strangers--;
	} else {
		from = kernel.pong_from;
		kernel.no_connection = 0;
	}
	memcpy(msg->msg_name, &from, sizeof(from));
	msg->msg_controllen = 0;
	msg->msg_flags = 0;
	return 0;
}

static inline void kernel_completion(uint64_t token, int status)
{
	struct incoming *in = kernel_put();

	in->control = RDS_CMSG_RDMA_STATUS;
	in->control_size = sizeof(in->beside.completion);
	in->beside.completion = (struct rds_rdma_notify){
		.user_token = token,
		.status = status,
	};
}

ssize_t recvmsg(int fd, struct msghdr *msg, int flags)
{
	struct incoming *in;
	struct cmsghdr *cmsg;
	uint64_t one;

	(void)flags;
	if (read(fd, &one, sizeof(one)) < 0)
		return -1;
	if (fd == kernel.pong_to)
		return recv_pong(msg);
	in = &kernel.queue[kernel.taken++];
	if (kernel.endless && kernel.taken == kernel.put) {
		kernel.taken = 0;
		one = kernel.put;
		if (write(fd, &one, sizeof(one)) < 0)
			abort();
	}
	memcpy(msg->msg_name, &in->from, sizeof(in->from));
	memcpy(msg->msg_iov->iov_base, in->bytes, in->length);
	if (in->control) {
		cmsg = CMSG_FIRSTHDR(msg);
		cmsg->cmsg_level = SOL_RDS;
		cmsg->cmsg_type = in->control;
		cmsg->cmsg_len = CMSG_LEN(in->control_size);
		memcpy(CMSG_DATA(cmsg), &in->beside, in->control_size);
	}
	msg->msg_controllen = in->control ? CMSG_SPACE(in->control_size) : 0;
	msg->msg_flags = in->truncated ? MSG_TRUNC : 0;
	return in->length;
}

/* What is sent to port 0, by a socket that was opened for that. */
static ssize_t send_ping(int fd, const struct sockaddr_in *to)
{
	uint64_t count = kernel.strangers + kernel.pongs;

	kernel.pong_from = *to;
	kernel.pong_to = fd;
	return write(fd, &count, sizeof(count)) < 0 ? -1 : 0;
}

/* Memory is lent: the key goes where the program wants it. */
static int lend_memory(const struct cmsghdr *cmsg)
{
	if (kernel.no_connection) {
		errno = kernel.no_connection;
		return -1;
	}
	memcpy(&kernel.loan, CMSG_DATA(cmsg), sizeof(kernel.loan));
	kernel.keys++;
	if (kernel.loan.cookie_addr)
		memcpy((void *)(uintptr_t)kernel.loan.cookie_addr, &kernel.keys,
		       sizeof(kernel.keys));
	return 0;
}

ssize_t sendmsg(int fd, const struct msghdr *msg, int flags)
{
	const struct sockaddr_in *to = msg->msg_name;
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(msg);
	struct rds_rdma_args args;
	struct rds_iovec local;

	(void)flags;
	kernel.calls++;
	if (to->sin_port == 0 && fd != kernel.first)
		return send_ping(fd, to);
	if (kernel.refused_port == ntohs(to->sin_port) &&
	    kernel.sent >= kernel.refused_from) {
		errno = kernel.refusal;
		return -1;
	}
	if (cmsg && cmsg->cmsg_type == RDS_CMSG_RDMA_MAP && lend_memory(cmsg))
		return -1;
	kernel.sent++;
	kernel.sent_to = *to;
	if (cmsg && cmsg->cmsg_type == RDS_CMSG_RDMA_ARGS) {
		memcpy(&args, CMSG_DATA(cmsg), sizeof(args));
		memcpy(&local, (void *)(uintptr_t)args.local_vec_addr,
		       sizeof(local));
		kernel.source = (const char *)(uintptr_t)local.addr;
	}
	return msg->msg_iov->iov_len;
}

int socket(int domain, int type, int protocol)
{
	(void)type;
	(void)protocol;
	if (domain != PF_RDS)
		abort();
	domain = eventfd(0, EFD_SEMAPHORE | EFD_NONBLOCK);
	if (kernel.first < 0)
		kernel.first = kernel.fd = domain;
	return domain;
}

int bind(int fd, const struct sockaddr *addr, socklen_t length)
{
	(void)fd;
	(void)addr;
	(void)length;
	return 0;
}

int getsockname(int fd, struct sockaddr *addr, socklen_t *length)
{
	/* It is left as it was bound. */
	(void)fd;
	(void)addr;
	(void)length;
	return 0;
}

#include "rds_sockopt.h"

#endif
