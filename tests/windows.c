/*
 * windows.c - what a device enforces of memory windows and of SEND with Invalidate
 *
 * usage: windows
 *
 * Connects two queue pairs of the first device, and prints a line for each try: what
 * it was, and the status of its completion. The second queue pair lends 4096 bytes;
 * a window on them (type 2) has bytes 64 to 127. Each try has queue pairs of its own,
 * because a failure ends them. Exit status: 0 all was tried, 1 something else failed.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <infiniband/verbs.h>

#define SIZE 4096
#define FROM 64
#define LENGTH 64
#define ALL \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_MW_BIND)
#define DEADLINE 20 /* seconds */

struct pair {
	struct ibv_context *verbs;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp[2];
	struct ibv_mr *mr;
	struct ibv_mw *mw;
	char buf[SIZE];
};

static void check(int failed, const char *what)
{
	if (!failed)
		return;
	fprintf(stderr, "error: %s failed\n", what);
	exit(1);
}

/* The GID of RoCE v2 that stands for an IPv4 address. */
static int find_gid(struct ibv_context *verbs, union ibv_gid *gid)
{
	struct ibv_gid_entry entry;

	for (uint32_t i = 0; i < 16; i++)
		if (!ibv_query_gid_ex(verbs, 1, i, &entry, 0) &&
		    entry.gid_type == IBV_GID_TYPE_ROCE_V2 &&
		    entry.gid.raw[10] == 0xff) {
			*gid = entry.gid;
			return (int)i;
		}
	return -1;
}

static void connect_qp(struct pair *pair, int i)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};
	int index;

	check(ibv_modify_qp(pair->qp[i], &attr,
			    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				    IBV_QP_ACCESS_FLAGS),
	      "INIT");
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = pair->qp[!i]->qp_num,
		.ah_attr = { .is_global = 1, .port_num = 1 },
		.max_dest_rd_atomic = 1,
	};
	index = find_gid(pair->verbs, &attr.ah_attr.grh.dgid);
	check(index < 0, "find_gid");
	attr.ah_attr.grh.sgid_index = (uint8_t)index;
	check(ibv_modify_qp(pair->qp[i], &attr,
			    IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
				    IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
				    IBV_QP_MAX_DEST_RD_ATOMIC |
				    IBV_QP_MIN_RNR_TIMER),
	      "RTR");
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTS,
		.timeout = 14,
		.retry_cnt = 6,
		.max_rd_atomic = 1,
	};
	check(ibv_modify_qp(pair->qp[i], &attr,
			    IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
				    IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
				    IBV_QP_MAX_QP_RD_ATOMIC),
	      "RTS");
}

/* The completion of a request of queue pair 0 or 1 that is no receive. */
static int status_of(struct pair *pair, struct ibv_send_wr *wr, int i)
{
	struct ibv_send_wr *bad;
	time_t end = time(NULL) + DEADLINE;
	struct ibv_wc wc;

	wr->wr_id = 1;
	wr->send_flags = IBV_SEND_SIGNALED;
	check(ibv_post_send(pair->qp[i], wr, &bad), "ibv_post_send");
	while (time(NULL) < end)
		if (ibv_poll_cq(pair->cq, 1, &wc) > 0 && wc.wr_id == 1)
			return wc.status;
	check(1, "waiting for a completion");
	return -1;
}

static void open_pair(struct pair *pair)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = { 4, 4, 1, 1, 0 },
	};
	struct ibv_recv_wr *bad, wr = { .wr_id = 2 };

	pair->cq = ibv_create_cq(pair->verbs, 16, NULL, NULL, 0);
	check(!pair->cq, "ibv_create_cq");
	attr.send_cq = attr.recv_cq = pair->cq;
	for (int i = 0; i < 2; i++) {
		pair->qp[i] = ibv_create_qp(pair->pd, &attr);
		check(!pair->qp[i], "ibv_create_qp");
	}
	for (int i = 0; i < 2; i++)
		connect_qp(pair, i);
	check(ibv_post_recv(pair->qp[1], &wr, &bad), "ibv_post_recv");
	pair->mr = ibv_reg_mr(pair->pd, pair->buf, SIZE, ALL);
	check(!pair->mr, "ibv_reg_mr");
	pair->mw = ibv_alloc_mw(pair->pd, IBV_MW_TYPE_2);
	check(!pair->mw, "ibv_alloc_mw");
}

/* Gives queue pair 1's peer a window; the key that is good for it. */
static uint32_t bind_window(struct pair *pair)
{
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_BIND_MW,
		.bind_mw = {
			.mw = pair->mw,
			.rkey = ibv_inc_rkey(pair->mw->rkey),
			.bind_info = {
				.mr = pair->mr,
				.addr = (uintptr_t)pair->buf + FROM,
				.length = LENGTH,
				.mw_access_flags = IBV_ACCESS_REMOTE_WRITE,
			},
		},
	};

	check(status_of(pair, &wr, 1), "IBV_WR_BIND_MW");
	return wr.bind_mw.rkey;
}

static int write_at(struct pair *pair, size_t offset, uint32_t rkey)
{
	struct ibv_sge sge = { (uintptr_t)pair->buf, 8, pair->mr->lkey };
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_RDMA_WRITE,
		.sg_list = &sge,
		.num_sge = 1,
		.wr.rdma = { (uintptr_t)pair->buf + offset, rkey },
	};

	return status_of(pair, &wr, 0);
}

static int send_inv(struct pair *pair, uint32_t rkey)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND_WITH_INV };

	wr.invalidate_rkey = rkey;
	return status_of(pair, &wr, 0);
}

static int try(struct pair *pair, int which)
{
	uint32_t rkey = which < 4 ? bind_window(pair) : pair->mr->rkey;

	switch (which) {
	case 0:
		return write_at(pair, FROM, rkey);
	case 1:
		return write_at(pair, FROM + LENGTH, rkey);
	case 2:
		return send_inv(pair, rkey);
	case 3:
		check(send_inv(pair, rkey), "SEND with Invalidate");
		return write_at(pair, FROM, rkey);
	case 4:
		return send_inv(pair, rkey);
	default:
		check(send_inv(pair, rkey), "SEND with Invalidate");
		return write_at(pair, FROM, rkey);
	}
}

static const char *const tries[] = {
	"WRITE inside the window",
	"WRITE behind the window, inside its region",
	"SEND with Invalidate of the window",
	"WRITE to the window after that",
	"SEND with Invalidate of the region",
	"WRITE to the region after that",
};

int main(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct pair pair = { 0 };
	int status;

	check(!list || !list[0], "ibv_get_device_list");
	pair.verbs = ibv_open_device(list[0]);
	check(!pair.verbs, "ibv_open_device");
	pair.pd = ibv_alloc_pd(pair.verbs);
	check(!pair.pd, "ibv_alloc_pd");
	for (int i = 0; i < (int)(sizeof(tries) / sizeof(tries[0])); i++) {
		open_pair(&pair);
		status = try(&pair, i);
		printf("%s: status %d (%s)\n", tries[i], status,
		       ibv_wc_status_str(status));
		/* rxe waits for the window before it destroys its queue pair. */
		check(ibv_dealloc_mw(pair.mw), "ibv_dealloc_mw");
		for (int qp = 0; qp < 2; qp++)
			check(ibv_destroy_qp(pair.qp[qp]), "ibv_destroy_qp");
		check(ibv_dereg_mr(pair.mr), "ibv_dereg_mr");
		check(ibv_destroy_cq(pair.cq), "ibv_destroy_cq");
	}
	check(ibv_dealloc_pd(pair.pd), "ibv_dealloc_pd");
	check(ibv_close_device(pair.verbs), "ibv_close_device");
	ibv_free_device_list(list);
	return 0;
}
