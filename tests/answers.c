/*
 * answers.c - what a device answers to a few mistakes that docs/troubleshooting/ tells of
 *
 * usage: answers NOBODY
 *
 * Prints a line for each try on the first device: address handles, the second of them for
 * NOBODY, an IPv4 address that nobody has; atomics without each right; what UD puts before a
 * message; a region that is paged on demand; and which endpoint is one too many, with
 * 1024 descriptors. Exit status: 0 all was tried, 1 something else failed.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#define ATOMIC (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_ATOMIC)
#define QKEY 17
#define GRH 40

static struct ibv_context *verbs;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_ah_attr our; /* our own address */
static _Alignas(8) unsigned char buf[256];

static void check(int failed, const char *what)
{
	if (!failed)
		return;
	fprintf(stderr, "error: %s: %m\n", what);
	exit(1);
}

static void say(const char *what, int error)
{
	printf("%s: %s\n", what, error ? strerror(error) : "success");
}

static void find_our_address(void)
{
	struct ibv_gid_entry entry;

	our = (struct ibv_ah_attr){ .is_global = 1,
				    .port_num = 1,
				    .grh.hop_limit = 64 };
	for (uint32_t i = 0; i < 16; i++)
		if (!ibv_query_gid_ex(verbs, 1, i, &entry, 0) &&
		    entry.gid_type == IBV_GID_TYPE_ROCE_V2 &&
		    entry.gid.raw[10] == 0xff) {
			our.grh.sgid_index = (uint8_t)i;
			our.grh.dgid = entry.gid;
			return;
		}
	check(1, "no GID stands for an IPv4 address");
}

static void try_address(const char *what, struct ibv_ah_attr attr)
{
	struct ibv_ah *ah = ibv_create_ah(pd, &attr);

	say(what, ah ? 0 : errno);
	if (ah)
		ibv_destroy_ah(ah);
}

static void addresses(const char *nobody)
{
	struct ibv_ah_attr attr = our;

	try_address("address handle, complete", attr);
	check(inet_pton(AF_INET, nobody, attr.grh.dgid.raw + 12) != 1, nobody);
	try_address("address handle, nobody has the address", attr);
	attr = our;
	attr.is_global = 0;
	try_address("address handle, no GRH", attr);
	attr = our;
	memset(&attr.grh.dgid, 0, sizeof(attr.grh.dgid));
	try_address("address handle, the GID is zeros", attr);
	attr = our;
	attr.grh.sgid_index = 15;
	try_address("address handle, nothing at the GID's index", attr);
}

static struct ibv_qp *create_qp(enum ibv_qp_type type)
{
	struct ibv_qp_init_attr attr = { .qp_type = type,
					 .send_cq = cq,
					 .recv_cq = cq,
					 .cap = { 4, 4, 1, 1, 0 } };
	struct ibv_qp *qp = ibv_create_qp(pd, &attr);

	check(!qp, "ibv_create_qp");
	return qp;
}

/* To RTS, connected to itself. */
static void connect_qp(struct ibv_qp *qp, int rights, uint8_t depth)
{
	int ud = qp->qp_type == IBV_QPT_UD;
	struct ibv_qp_attr init = { .qp_state = IBV_QPS_INIT,
				    .port_num = 1,
				    .qp_access_flags = (unsigned int)rights,
				    .qkey = QKEY },
			   rtr = { .qp_state = IBV_QPS_RTR,
				   .path_mtu = IBV_MTU_1024,
				   .dest_qp_num = qp->qp_num,
				   .ah_attr = our,
				   .max_dest_rd_atomic = depth },
			   rts = { .qp_state = IBV_QPS_RTS,
				   .timeout = 14,
				   .retry_cnt = 6,
				   .max_rd_atomic = 1 };

	errno = ibv_modify_qp(qp, &init,
			      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				      (ud ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS));
	check(errno, "INIT");
	errno = ibv_modify_qp(qp, &rtr,
			      ud ? IBV_QP_STATE :
				   IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
					      IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
					      IBV_QP_MAX_DEST_RD_ATOMIC |
					      IBV_QP_MIN_RNR_TIMER);
	check(errno, "RTR");
	errno = ibv_modify_qp(qp, &rts,
			      ud ? IBV_QP_STATE | IBV_QP_SQ_PSN :
				   IBV_QP_STATE | IBV_QP_TIMEOUT |
					      IBV_QP_RETRY_CNT |
					      IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
					      IBV_QP_MAX_QP_RD_ATOMIC);
	check(errno, "RTS");
}

/* Of that request. */
static struct ibv_wc completion_of(uint64_t id)
{
	struct ibv_wc wc;
	int polled;

	do
		polled = ibv_poll_cq(cq, 1, &wc);
	while (!polled || (polled > 0 && wc.wr_id != id));
	check(polled < 0, "ibv_poll_cq");
	return wc;
}

static void try_atomic(const char *what, int on_region, int on_qp,
		       uint8_t depth, size_t offset)
{
	struct ibv_mr *mr = ibv_reg_mr(pd, buf, sizeof(buf), on_region);
	struct ibv_qp *qp = create_qp(IBV_QPT_RC);
	struct ibv_sge sge = { (uintptr_t)buf, 8, mr ? mr->lkey : 0 };
	struct ibv_send_wr *bad, wr = { .wr_id = 1,
					.sg_list = &sge,
					.num_sge = 1,
					.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
					.send_flags = IBV_SEND_SIGNALED };

	check(!mr, "ibv_reg_mr");
	connect_qp(qp, on_qp, depth);
	wr.wr.atomic.remote_addr = (uintptr_t)(buf + 64 + offset);
	wr.wr.atomic.rkey = mr->rkey;
	if ((errno = ibv_post_send(qp, &wr, &bad)))
		printf("%s: ibv_post_send: %m\n", what);
	else
		printf("%s: status %d\n", what, completion_of(1).status);
	ibv_destroy_qp(qp);
	ibv_dereg_mr(mr);
}

static void datagram(void)
{
	struct ibv_mr *mr =
		ibv_reg_mr(pd, buf, sizeof(buf), IBV_ACCESS_LOCAL_WRITE);
	struct ibv_qp *qp = create_qp(IBV_QPT_UD);
	struct ibv_sge to = { (uintptr_t)buf, 128, mr ? mr->lkey : 0 },
		       from = { (uintptr_t)buf + 128, 4, to.lkey };
	struct ibv_recv_wr *bad_recv,
		recv = { .wr_id = 2, .sg_list = &to, .num_sge = 1 };
	struct ibv_send_wr *bad,
		wr = { .sg_list = &from, .num_sge = 1, .opcode = IBV_WR_SEND };
	struct ibv_wc wc;

	check(!mr, "ibv_reg_mr");
	connect_qp(qp, 0, 0);
	memset(buf, 0, sizeof(buf));
	memcpy(buf + 128, "text", 4);
	wr.wr.ud.ah = ibv_create_ah(pd, &our);
	check(!wr.wr.ud.ah, "ibv_create_ah");
	wr.wr.ud.remote_qpn = qp->qp_num;
	wr.wr.ud.remote_qkey = QKEY;
	check((errno = ibv_post_recv(qp, &recv, &bad_recv)), "ibv_post_recv");
	check((errno = ibv_post_send(qp, &wr, &bad)), "ibv_post_send");
	wc = completion_of(2);
	printf("UD, 4 bytes: %u bytes received, the message is at %d: %d, "
	       "an IPv4 header at 20: %d\n",
	       wc.byte_len, GRH, !memcmp(buf + GRH, "text", 4),
	       buf[20] == 0x45);
	ibv_destroy_ah(wr.wr.ud.ah);
	ibv_destroy_qp(qp);
	ibv_dereg_mr(mr);
}

static void on_demand(void)
{
	struct ibv_mr *mr =
		ibv_reg_mr(pd, buf, sizeof(buf),
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ON_DEMAND);

	say("a region that is paged on demand", mr ? 0 : errno);
	if (mr)
		ibv_dereg_mr(mr);
}

static void endpoints(void)
{
	struct rlimit limit = { 1024, 1024 };
	struct ibv_qp_init_attr attr;
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP }, *info;
	struct rdma_cm_id *id;
	char address[INET_ADDRSTRLEN];
	int made = 0;

	check(setrlimit(RLIMIT_NOFILE, &limit), "setrlimit");
	check(!inet_ntop(AF_INET, our.grh.dgid.raw + 12, address,
			 sizeof(address)),
	      "inet_ntop");
	check(rdma_getaddrinfo(address, "9", &hints, &info),
	      "rdma_getaddrinfo");
	/* It writes into the structure which queues it has made. */
	do
		attr = (struct ibv_qp_init_attr){ .qp_type = IBV_QPT_RC,
						  .cap = { 1, 1, 1, 1, 0 } };
	while (!rdma_create_ep(&id, info, NULL, &attr) && ++made);
	printf("endpoints with 1024 descriptors: %d, then: %m\n", made);
}

int main(int argc, char **argv)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	check(argc != 2, "usage: answers NOBODY");
	check(!list || !list[0] || !(verbs = ibv_open_device(list[0])),
	      "ibv_open_device");
	check(!(pd = ibv_alloc_pd(verbs)), "ibv_alloc_pd");
	check(!(cq = ibv_create_cq(verbs, 16, NULL, NULL, 0)), "ibv_create_cq");
	find_our_address();
	addresses(argv[1]);
	try_atomic("atomic", ATOMIC, ATOMIC, 1, 0);
	try_atomic("atomic, no right on the region", IBV_ACCESS_LOCAL_WRITE,
		   ATOMIC, 1, 0);
	try_atomic("atomic, no right on the queue pair", ATOMIC,
		   IBV_ACCESS_LOCAL_WRITE, 1, 0);
	try_atomic("atomic, depth 0", ATOMIC, ATOMIC, 0, 0);
	try_atomic("atomic, unaligned", ATOMIC, ATOMIC, 1, 4);
	datagram();
	on_demand();
	endpoints();
	return 0;
}
