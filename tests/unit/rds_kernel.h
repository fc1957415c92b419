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
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <arpa/inet.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "capture.h"
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
};

static struct kernel {
	struct incoming queue[16];
	unsigned int put, taken;
	volatile bool endless; /* the queue begins anew after its last */
	int fd; /* readable as long as something is queued */
	unsigned int sent;
	struct sockaddr_in sent_to; /* the last */
	int refusal; /* errno of sendmsg() to refused_port */
	unsigned int refused_from; /* the number of the first that is refused */
	int refused_port;
	const char *source; /* the memory of the last RDMA request */
	uint64_t resets; /* the counter conn_reset */
} kernel;

static struct captured said;

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
	kernel = (struct kernel){ .fd = -1, .refused_port = -1 };
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

static struct incoming *kernel_datagram(const char *address, int port,
					enum dgram_type type, const char *text)
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

ssize_t recvmsg(int fd, struct msghdr *msg, int flags)
{
	struct incoming *in;
	struct cmsghdr *cmsg;
	uint64_t one;

	(void)flags;
	if (read(fd, &one, sizeof(one)) < 0)
		return -1;
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
	msg->msg_flags = 0;
	return in->length;
}

ssize_t sendmsg(int fd, const struct msghdr *msg, int flags)
{
	const struct sockaddr_in *to = msg->msg_name;
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(msg);
	struct rds_rdma_args args;
	struct rds_iovec local;

	(void)fd;
	(void)flags;
	if (kernel.refused_port == ntohs(to->sin_port) &&
	    kernel.sent >= kernel.refused_from) {
		errno = kernel.refusal;
		return -1;
	}
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
	return kernel.fd = eventfd(0, EFD_SEMAPHORE | EFD_NONBLOCK);
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

int setsockopt(int fd, int level, int option, const void *value,
	       socklen_t length)
{
	(void)fd;
	(void)level;
	(void)option;
	(void)value;
	(void)length;
	return 0;
}

/* A table: the size of an entry is returned, that of the table in *length. */
static int counters(struct rds_info_counter *entry, socklen_t *length)
{
	if (*length < sizeof(*entry)) {
		*length = sizeof(*entry);
		errno = ENOSPC;
		return -1;
	}
	*entry = (struct rds_info_counter){ .name = "conn_reset",
					    .value = kernel.resets };
	return sizeof(*entry);
}

int getsockopt(int fd, int level, int option, void *value, socklen_t *length)
{
	static const int room = 2 * 106496, ib = RDS_TRANS_IB;

	(void)fd;
	if (level == SOL_SOCKET && option == SO_SNDBUF)
		memcpy(value, &room, sizeof(room));
	else if (level == SOL_RDS && option == SO_RDS_TRANSPORT)
		memcpy(value, &ib, sizeof(ib));
	else if (level == SOL_RDS && option == RDS_INFO_COUNTERS)
		return counters(value, length);
	else if (level == SOL_RDS)
		return *length = 0, 256; /* an empty table */
	return 0;
}

#endif
