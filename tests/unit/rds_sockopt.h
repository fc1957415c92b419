/*
 * rds_sockopt.h - the options of a made-up RDS socket: the end of rds_kernel.h
 */
#ifndef RDS_SOCKOPT_H
#define RDS_SOCKOPT_H

int setsockopt(int fd, int level, int option, const void *value,
	       socklen_t length)
{
	struct rds_free_mr_args args;

	(void)fd;
	if (level == SOL_RDS && option == RDS_FREE_MR) {
		assert_int_equal(length, sizeof(args));
		memcpy(&args, value, sizeof(args));
		assert_int_equal(args.flags, RDS_RDMA_INVALIDATE);
		assert_true(kernel.frees < 64);
		kernel.freed[kernel.frees++] = args.cookie;
	}
	if (level == SOL_RDS && option == RDS_CANCEL_SENT_TO)
		memcpy(&kernel.cancelled, value, sizeof(kernel.cancelled));
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
