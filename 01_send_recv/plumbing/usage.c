/*
 * usage.c - what -h prints
 *
 * Born in 01_send_recv.
 */
#include "usage.h"

static const char server[] =
	"usage: ./server [-a ADDRESS] [-p PORT] [-t SECONDS] [-1]\n"
	"\n"
	"Waits for clients and, with each of them in turn, receives one\n"
	"message and sends one, by RDMA. Ends on SIGINT (Ctrl-C) or SIGTERM.\n"
	"\n"
	"  -a, --address ADDRESS  listen on this name or address only\n"
	"                         (default: all of this machine's)\n"
	"  -p, --port PORT        listen on this port, 1 to 65535\n"
	"                         (default: " OPTIONS_DEFAULT_PORT ")\n"
	"  -t, --timeout SECONDS  how long a client may take for one step,\n"
	"                         1 to 3600 (default: 10)\n"
	"  -1, --once             serve one client, then exit\n"
	"  -h, --help             print this\n"
	"\n"
	"example: ./server -a 192.0.2.1\n";

static const char client[] =
	"usage: ./client -a ADDRESS [-p PORT] [-t SECONDS] [-s TEXT]\n"
	"\n"
	"Connects to a server, sends it one message and receives one, by RDMA.\n"
	"\n"
	"  -a, --address ADDRESS  the server's name or address; it must be on\n"
	"                         an RDMA device, so 127.0.0.1 will not do\n"
	"  -p, --port PORT        the server's port, 1 to 65535\n"
	"                         (default: " OPTIONS_DEFAULT_PORT ")\n"
	"  -t, --timeout SECONDS  how long the server may take for one step,\n"
	"                         1 to 3600 (default: 10)\n"
	"  -s, --send TEXT        the message, at most 1024 bytes (default:\n"
	"                         message from active/client side with pid N)\n"
	"  -h, --help             print this\n"
	"\n"
	"example: ./client -a 192.0.2.1 -s 'hello, RDMA'\n";

const char *const usage[] = {
	[ROLE_SERVER] = server,
	[ROLE_CLIENT] = client,
};
