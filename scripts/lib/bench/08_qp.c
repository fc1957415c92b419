/*
 * 08_qp.c - what the device takes for a queue pair, without a connection
 *
 * On the first RDMA device, makes COUNT queue pairs as chapter 08's server does: on one
 * CQ and one shared receive queue; and then COUNT queue pairs each of which has a CQ
 * and 64 receives of its own. Prints by how many kB the memory of this machine that is
 * available has become less, for one.
 *
 * usage: 08_qp COUNT
 */
#include <stdio.h>
#include <stdlib.h>

#include <infiniband/verbs.h>

/* As in guests.h: two for each of seven answers, and a greeting. */
#define SENDS 15
#define RECEIVES 64

/* Of this machine, in kB; -1 if it cannot be found out. */
static long available_kb(void)
{
	FILE *file = fopen("/proc/meminfo", "re");
	char line[256];
	long kb = -1;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "MemAvailable: %ld", &kb) == 1)
			break;
	if (file)
		fclose(file);
	return kb;
}

static struct ibv_qp *make_qp(struct ibv_pd *pd, struct ibv_cq *cq,
			      struct ibv_srq *srq)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.send_cq = cq,
		.recv_cq = cq,
		.srq = srq,
		.cap = {
			.max_send_wr = SENDS,
			.max_send_sge = 2,
			.max_recv_wr = srq ? 0 : RECEIVES,
			.max_recv_sge = srq ? 0 : 1,
		},
	};

	return ibv_create_qp(pd, &attr);
}

/* With a CQ each where srq is NULL. Returns 0, or -1 after reporting why. What it makes
 * ends with the program. */
static int measure(const char *what, struct ibv_pd *pd, struct ibv_cq *cq,
		   struct ibv_srq *srq, int count)
{
	long before = available_kb(), after;

	for (int i = 0; i < count; i++) {
		if (!srq)
			cq = ibv_create_cq(pd->context, SENDS + RECEIVES, NULL,
					   NULL, 0);
		if (!cq || !make_qp(pd, cq, srq)) {
			fprintf(stderr, "08_qp: no queue pair %d\n", i + 1);
			return -1;
		}
	}
	after = available_kb();
	if (before < 0 || after < 0) {
		fprintf(stderr, "08_qp: no MemAvailable in /proc/meminfo\n");
		return -1;
	}
	printf("%s %.1f\n", what, (double)(before - after) / count);
	return 0;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 0;
	struct ibv_srq_init_attr srq_attr = {
		.attr = { .max_wr = 4096, .max_sge = 1 },
	};
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context =
		list && *list ? ibv_open_device(*list) : NULL;
	struct ibv_pd *pd = context ? ibv_alloc_pd(context) : NULL;
	struct ibv_cq *cq =
		pd ? ibv_create_cq(context, 4096, NULL, NULL, 0) : NULL;
	struct ibv_srq *srq = cq ? ibv_create_srq(pd, &srq_attr) : NULL;

	if (count < 1 || !srq) {
		fprintf(stderr, "08_qp: give a count; is there a device?\n");
		return 1;
	}
	return measure("shared", pd, cq, srq, count) ||
	       measure("own", pd, NULL, NULL, count);
}
