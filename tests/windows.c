/*
 * windows.c - what a device enforces of memory windows and of SEND with Invalidate
 *
 * usage: windows
 *
 * Connects two clients to one lender, all on the first device, and prints a line for
 * each try: what it was, and the status of its completion. The lender has a protection
 * domain for each client, and a region of 4096 bytes, which it lends to nobody. A window
 * on it (type 2) lends bytes 64 to 127 to one client, to be read and written. Each try
 * has queue pairs of its own, because a failure ends them. Exit status: 0 all was tried,
 * 1 something else failed.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <infiniband/verbs.h>

#define SIZE 4096
#define FROM 64
#define LENGTH 64
#define TO_ALL (IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE)
#define DEADLINE 20 /* seconds */

/* A client, and what the lender has for it. */
struct pair {
	struct ibv_context *verbs;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp[2]; /* the client's, the lender's */
	struct ibv_mr *mr;
	struct ibv_mw *mw;
};

static _Alignas(8) char lent[SIZE], own[8];

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
		.qp_access_flags = TO_ALL | IBV_ACCESS_REMOTE_ATOMIC,
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

static void open_pair(struct pair *pair, int rights)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = { 4, 4, 1, 1, 0 },
	};
	struct ibv_recv_wr *bad, wr = { .wr_id = 2 };

	pair->pd = ibv_alloc_pd(pair->verbs);
	check(!pair->pd, "ibv_alloc_pd");
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
	pair->mr = ibv_reg_mr(pair->pd, lent, SIZE,
			      IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND |
				      rights);
	check(!pair->mr, "ibv_reg_mr");
	pair->mw = ibv_alloc_mw(pair->pd, IBV_MW_TYPE_2);
	check(!pair->mw, "ibv_alloc_mw");
}

static void close_pair(struct pair *pair)
{
	/* rxe waits for the window before it destroys its queue pair. */
	check(ibv_dealloc_mw(pair->mw), "ibv_dealloc_mw");
	for (int qp = 0; qp < 2; qp++)
		check(ibv_destroy_qp(pair->qp[qp]), "ibv_destroy_qp");
	check(ibv_dereg_mr(pair->mr), "ibv_dereg_mr");
	check(ibv_destroy_cq(pair->cq), "ibv_destroy_cq");
	check(ibv_dealloc_pd(pair->pd), "ibv_dealloc_pd");
}

/* Lends a window to the client; the key that is good for it. */
static uint32_t bind_window(struct pair *pair)
{
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_BIND_MW,
		.bind_mw = {
			.mw = pair->mw,
			.rkey = ibv_inc_rkey(pair->mw->rkey),
			.bind_info = {
				.mr = pair->mr,
				.addr = (uintptr_t)lent + FROM,
				.length = LENGTH,
				.mw_access_flags = TO_ALL,
			},
		},
	};

	check(status_of(pair, &wr, 1), "IBV_WR_BIND_MW");
	return wr.bind_mw.rkey;
}

/* By the client, from or to eight bytes of its own. */
static int copy(struct pair *pair, enum ibv_wr_opcode opcode, size_t offset,
		uint32_t rkey)
{
	struct ibv_mr *mr =
		ibv_reg_mr(pair->pd, own, sizeof(own), IBV_ACCESS_LOCAL_WRITE);
	struct ibv_sge sge = { (uintptr_t)own, sizeof(own), mr ? mr->lkey : 0 };
	struct ibv_send_wr wr = {
		.opcode = opcode,
		.sg_list = &sge,
		.num_sge = 1,
	};
	uint64_t addr = (uintptr_t)lent + offset;
	int status;

	check(!mr, "ibv_reg_mr");
	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = addr;
		wr.wr.atomic.rkey = rkey;
	} else {
		wr.wr.rdma.remote_addr = addr;
		wr.wr.rdma.rkey = rkey;
	}
	status = status_of(pair, &wr, 0);
	check(ibv_dereg_mr(mr), "ibv_dereg_mr");
	return status;
}

static int send_inv(struct pair *pair, uint32_t rkey)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND_WITH_INV };

	wr.invalidate_rkey = rkey;
	return status_of(pair, &wr, 0);
}

enum whom {
	NOBODY,
	CLIENT,
	OTHER /* client, to whom nothing is lent */
};

/* SEND is one with Invalidate. */
static const struct
try {
	const char *what;
	bool region; /* is lent, instead of the window */
	enum whom first; /* invalidates what is lent by a SEND, which succeeds */
	enum whom who;
	enum ibv_wr_opcode opcode;
	size_t offset;
}
tries[] = {
	{ "WRITE inside the window", false, NOBODY, CLIENT, IBV_WR_RDMA_WRITE,
	  FROM },
	{ "WRITE behind the window, inside its region", false, NOBODY, CLIENT,
	  IBV_WR_RDMA_WRITE, FROM + LENGTH },
	{ "READ inside the window", false, NOBODY, CLIENT, IBV_WR_RDMA_READ,
	  FROM },
	{ "READ behind the window, inside its region", false, NOBODY, CLIENT,
	  IBV_WR_RDMA_READ, FROM + LENGTH },
	{ "READ behind the region", false, NOBODY, CLIENT, IBV_WR_RDMA_READ,
	  SIZE },
	{ "fetch-and-add inside the window, which lends no right to it", false,
	  NOBODY, CLIENT, IBV_WR_ATOMIC_FETCH_AND_ADD, FROM },
	{ "READ inside the window by another client", false, NOBODY, OTHER,
	  IBV_WR_RDMA_READ, FROM },
	{ "SEND with Invalidate of the window", false, NOBODY, CLIENT,
	  IBV_WR_SEND_WITH_INV, 0 },
	{ "READ inside the window after that", false, CLIENT, CLIENT,
	  IBV_WR_RDMA_READ, FROM },
	{ "SEND with Invalidate of the window by another client", false, NOBODY,
	  OTHER, IBV_WR_SEND_WITH_INV, 0 },
	{ "READ inside the window after that other SEND", false, OTHER, CLIENT,
	  IBV_WR_RDMA_READ, FROM },
	{ "SEND with Invalidate of the region", true, NOBODY, CLIENT,
	  IBV_WR_SEND_WITH_INV, 0 },
	{ "READ of the region after that", true, CLIENT, CLIENT,
	  IBV_WR_RDMA_READ, FROM },
	{ "READ of the region after another client's SEND", true, OTHER, CLIENT,
	  IBV_WR_RDMA_READ, FROM },
};

static int run(const struct try *try, struct pair *client, struct pair *other)
{
	uint32_t rkey = try->region ? client->mr->rkey : bind_window(client);
	struct pair *who = try->who == CLIENT ? client : other;

	if (try->first != NOBODY)
		check(send_inv(try->first == CLIENT ? client : other, rkey),
		      "SEND with Invalidate");
	return try->opcode == IBV_WR_SEND_WITH_INV ?
		       send_inv(who, rkey) :
		       copy(who, try->opcode, try->offset, rkey);
}

int main(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *verbs;
	int status;

	check(!list || !list[0], "ibv_get_device_list");
	verbs = ibv_open_device(list[0]);
	check(!verbs, "ibv_open_device");
	for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
		struct pair client = { .verbs = verbs },
			    other = { .verbs = verbs };

		open_pair(&client, tries[i].region ? TO_ALL : 0);
		open_pair(&other, 0);
		status = run(&tries[i], &client, &other);
		printf("%s: status %d (%s)\n", tries[i].what, status,
		       ibv_wc_status_str(status));
		close_pair(&other);
		close_pair(&client);
	}
	check(ibv_close_device(verbs), "ibv_close_device");
	ibv_free_device_list(list);
	return 0;
}
