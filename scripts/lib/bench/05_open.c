/*
 * 05_open.c - what a separate context costs: ibv_open_device() again
 *
 * Opens the first RDMA device and then, COUNT times more, opens it once again
 * for each of COUNT clients; and beside that, on the first context alone, makes
 * what a client needs in any case: a PD, a channel, a CQ and a QP. Prints the
 * microseconds, the kB of memory and the descriptors of each, for one.
 *
 * usage: 05_open COUNT
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <infiniband/verbs.h>

struct objects {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
};

static double now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1e6 + now.tv_nsec / 1e3;
}

/* Of this process, in kB; -1 if it cannot be found out. */
static long memory_kb(void)
{
	FILE *file = fopen("/proc/self/smaps_rollup", "re");
	char line[256];
	long kb = -1;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "Rss: %ld", &kb) == 1)
			break;
	if (file)
		fclose(file);
	return kb;
}

static int descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n;
}

static int make_context(struct objects *o, struct ibv_device *device)
{
	o->context = ibv_open_device(device);
	return o->context ? 0 : -1;
}

static int make_objects(struct objects *o, struct ibv_context *context)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = { 3, 3, 1, 1, 64 },
	};

	o->pd = ibv_alloc_pd(context);
	o->channel = ibv_create_comp_channel(context);
	if (!o->pd || !o->channel)
		return -1;
	o->cq = ibv_create_cq(context, 6, NULL, o->channel, 0);
	attr.send_cq = attr.recv_cq = o->cq;
	o->qp = o->cq ? ibv_create_qp(o->pd, &attr) : NULL;
	return o->qp ? 0 : -1;
}

static int measure(const char *what, int count, struct ibv_device *device,
		   struct ibv_context *context)
{
	struct objects *all = calloc(count, sizeof(*all));
	long kb = memory_kb();
	int fds = descriptors();
	double begin = now_us(), us;

	for (int i = 0; i < count; i++) {
		if (!all || (context ? make_objects(&all[i], context) :
				       make_context(&all[i], device))) {
			perror(what);
			return -1;
		}
	}
	us = now_us() - begin;
	printf("%s\t%.1f\t%.1f\t%.1f\n", what, us / count,
	       (double)(memory_kb() - kb) / count,
	       (double)(descriptors() - fds) / count);
	/* Whatever is left is freed with the process. */
	for (int i = 0; i < count; i++) {
		if (all[i].qp)
			ibv_destroy_qp(all[i].qp);
		if (all[i].cq)
			ibv_destroy_cq(all[i].cq);
		if (all[i].channel)
			ibv_destroy_comp_channel(all[i].channel);
		if (all[i].pd)
			ibv_dealloc_pd(all[i].pd);
		if (all[i].context)
			ibv_close_device(all[i].context);
	}
	free(all);
	return 0;
}

int main(int argc, char **argv)
{
	int count = argc == 2 ? atoi(argv[1]) : 0, ret = 1;
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context;

	if (count < 1 || !list || !list[0]) {
		fprintf(stderr, "usage: 05_open COUNT, and an RDMA device\n");
		return 2;
	}
	context = ibv_open_device(list[0]);
	/* Once for nothing, so that neither comes first. */
	if (context && !measure("(warm)", 2, list[0], NULL) &&
	    !measure("(warm)", 2, list[0], context) &&
	    !measure("context", count, list[0], NULL) &&
	    !measure("objects", count, list[0], context))
		ret = 0;
	if (context)
		ibv_close_device(context);
	ibv_free_device_list(list);
	return ret;
}
