/*
 * connect_stamp.c - how long a client takes from connecting to RTS
 *
 * To be loaded before a client of any chapter (LD_PRELOAD), which need not be
 * changed for it. The clock starts at the first call by which a client reaches
 * out, rdma_resolve_addr() or connect() on a TCP socket, and stops when
 * ibv_modify_qp() has taken a queue pair to RTS, which librdmacm calls as well.
 * The microseconds between are appended to the file CONNECT_STAMP.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

static int64_t begin_ns;

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* The function of that name which would have been called without us. */
static void *real(const char *name)
{
	void *function = dlsym(RTLD_NEXT, name);

	if (!function) {
		fprintf(stderr, "connect_stamp: %s: %s\n", name, dlerror());
		exit(1);
	}
	return function;
}

static void start(void)
{
	if (!begin_ns)
		begin_ns = now_ns();
}

static void stop(void)
{
	double us = (now_ns() - begin_ns) / 1e3;
	const char *path = getenv("CONNECT_STAMP");
	int fd = path ? open(path, O_WRONLY | O_APPEND | O_CREAT, 0644) : -1;

	if (fd < 0 || dprintf(fd, "%.1f\n", us) < 0) {
		perror("connect_stamp: the file CONNECT_STAMP");
		exit(1);
	}
	close(fd);
}

int connect(int fd, const struct sockaddr *addr, socklen_t length)
{
	int (*function)(int, const struct sockaddr *, socklen_t) =
		real("connect");
	socklen_t size = sizeof(int);
	int type = 0;

	/* A name may have been looked up before, which asks by UDP. */
	if (!getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) &&
	    type == SOCK_STREAM && addr->sa_family != AF_UNIX)
		start();
	return function(fd, addr, length);
}

int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *src,
		      struct sockaddr *dst, int timeout_ms)
{
	int (*function)(struct rdma_cm_id *, struct sockaddr *,
			struct sockaddr *, int) = real("rdma_resolve_addr");

	start();
	return function(id, src, dst, timeout_ms);
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	int (*function)(struct ibv_qp *, struct ibv_qp_attr *, int) =
		real("ibv_modify_qp");
	int ret = function(qp, attr, mask);

	if (!ret && mask & IBV_QP_STATE && attr->qp_state == IBV_QPS_RTS)
		stop();
	return ret;
}
