/*
 * usage.c - what -h prints
 *
 * Born in 01_send_recv, last changed in 03_pure_verbs.
 */
#include "usage.h"

static const char server[] =
	"usage: ./server [-a ADDRESS] [-p PORT] [-t SECONDS] [-d DEVICE]\n"
	"                [-i NUMBER] [-g INDEX] [-P PSN] [-b BYTES] [-1]\n"
	"                write|read\n"
	"\n"
	"Waits for clients and, with each of them in turn, exchanges memory\n"
	"regions and writes to the client's memory or reads from it, by RDMA.\n"
	"Ends on SIGINT (Ctrl-C) or SIGTERM.\n"
	"\n"
	"  write|read             what to do; the client must say the same\n"
	"  -a, --address ADDRESS  listen on this name or address only\n"
	"                         (default: all of this machine's)\n"
	"  -p, --port PORT        listen on this port, 1 to 65535\n"
	"                         (default: " OPTIONS_DEFAULT_PORT ")\n"
	"  -t, --timeout SECONDS  how long a client may take for one step,\n"
	"                         1 to 3600 (default: 10)\n"
	"  -d, --device DEVICE    RDMA device (default: the first that has the\n"
	"                         address in use and an active port)\n"
	"  -i, --ib-port NUMBER   port of the device (default: the first\n"
	"                         active one)\n"
	"  -g, --gid-index INDEX  GID of the port (default: on RoCE the v2 GID\n"
	"                         of the address in use; else 0)\n"
	"  -P, --psn PSN          first packet sequence number, 0 to 0xffffff\n"
	"                         (default: a random one)\n"
	"  -b, --bytes BYTES      memory to write to or read from, 64 to 67108864;\n"
	"                         the client must say the same (default: 1024)\n"
	"  -1, --once             serve one client, then exit\n"
	"  -h, --help             print this\n"
	"\n"
	"example: ./server -a 192.0.2.1 write\n";

static const char client[] =
	"usage: ./client -a ADDRESS [-p PORT] [-t SECONDS] [-d DEVICE]\n"
	"                [-i NUMBER] [-g INDEX] [-P PSN] [-b BYTES]\n"
	"                write|read\n"
	"\n"
	"Connects to a server, exchanges memory regions with it and writes to\n"
	"its memory or reads from it, by RDMA.\n"
	"\n"
	"  write|read             what to do; the server must say the same\n"
	"  -a, --address ADDRESS  the server's name or address; it must be on\n"
	"                         an RDMA device, so 127.0.0.1 will not do\n"
	"  -p, --port PORT        the server's port, 1 to 65535\n"
	"                         (default: " OPTIONS_DEFAULT_PORT ")\n"
	"  -t, --timeout SECONDS  how long the server may take for one step,\n"
	"                         1 to 3600 (default: 10)\n"
	"  -d, --device DEVICE    RDMA device (default: the first that has the\n"
	"                         address in use and an active port)\n"
	"  -i, --ib-port NUMBER   port of the device (default: the first\n"
	"                         active one)\n"
	"  -g, --gid-index INDEX  GID of the port (default: on RoCE the v2 GID\n"
	"                         of the address in use; else 0)\n"
	"  -P, --psn PSN          first packet sequence number, 0 to 0xffffff\n"
	"                         (default: a random one)\n"
	"  -b, --bytes BYTES      memory to write to or read from, 64 to 67108864;\n"
	"                         the server must say the same (default: 1024)\n"
	"  -h, --help             print this\n"
	"\n"
	"example: ./client -a 192.0.2.1 write\n";

const char *const usage[] = {
	[ROLE_SERVER] = server,
	[ROLE_CLIENT] = client,
};
