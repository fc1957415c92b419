/*
 * probe.h - what probe.c knows of itself and its connections, and how it speaks
 */
#ifndef PROBE_H
#define PROBE_H

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <rdma/rdma_cma.h>

#define PORT 20999
#define MAX 64 /* connections */
#define SIZE 64 /* bytes of each operation */
#define RECEIVES 16
#define SETUP_MS 20000
#define ACCESS                                              \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
	 IBV_ACCESS_REMOTE_READ)

struct conn {
	char name[32], kind[8], op[16];
	int timeout, retry;
	struct rdma_cm_id *id;
	struct ibv_qp *qp;
	long long posted, worst; /* us */
	int done, wanted;
};

/* What the ends tell each other over TCP, as it is in memory: both are one program. */
struct hello {
	union ibv_gid gid;
	uint64_t addr;
	uint32_t rkey, qpn[MAX];
};

struct probe {
	struct sockaddr_in server, beside;
	int is_server, count, missing, tcp, late;
	struct conn conns[MAX];
	struct rdma_event_channel *events;
	struct ibv_context *verbs;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	struct hello ours, theirs;
	char buf[SIZE];
};

/* Ends the program if the condition is true, with errno's text. */
#define FATAL_IF(condition) check(condition, #condition)

static void check(int failed, const char *what)
{
	if (!failed)
		return;
	fprintf(stderr, "error: %s: %m\n", what);
	exit(1);
}

static long long now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * 1000000LL + now.tv_nsec / 1000;
}

__attribute__((format(printf, 2, 3))) static void say(const char *who,
						      const char *format, ...)
{
	va_list list;

	printf("%lld\t%s\t", now_us(), who);
	va_start(list, format);
	vprintf(format, list);
	va_end(list);
	putchar('\n');
}

static int is(const char *a, const char *b)
{
	return !strcmp(a, b);
}

#endif
