/*
 * lifted.c - a program that is not of this book: it takes from chapter 02 what connects
 */
#include "addr.h"
#include "rdma.h"

int main(int argc, char **argv)
{
	struct conn conn = { .patience = { .timeout_ms = 5000,
					   .stop_fd = -1 } };
	struct addrinfo *addresses;
	int ret = -1;

	if (argc != 3 || addr_lookup(argv[1], argv[2], &addresses))
		return 1;
	if (!conn_resolve(&conn, addresses) && !conn_create_qp(&conn, 1, 1) &&
	    !conn_connect(&conn))
		ret = conn_disconnect(&conn);
	conn_end(&conn);
	conn_close(&conn);
	freeaddrinfo(addresses);
	return ret ? 1 : 0;
}
