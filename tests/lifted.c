/*
 * lifted.c - a program that is not of this book: it takes from chapter 02 what connects
 */
#include "conn.h"

int main(int argc, char **argv)
{
	const struct patience patience = { .timeout_ms = 5000, .stop_fd = -1 };
	struct conn conn = { 0 };
	int ret = -1;

	if (argc == 3 && !conn_resolve(&conn, argv[1], argv[2], &patience) &&
	    !conn_create_qp(&conn, 1, 1) && !conn_connect(&conn))
		ret = conn_disconnect(&conn);
	conn_end(&conn);
	conn_close(&conn);
	return ret ? 1 : 0;
}
