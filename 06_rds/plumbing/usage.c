/*
 * usage.c - what -h prints
 *
 * Born in 01_send_recv, last changed in 06_rds.
 */
#include "usage.h"

#define TRANSPORT_OPTION                                                        \
	"  -T, --transport tcp|ib what the kernel sends it over (default: it\n" \
	"                         chooses; ib where an RDMA device has the\n"   \
	"                         address)\n"

static const char server[] =
	"usage: ./server -a ADDRESS [-p PORT] [-T tcp|ib] [-t SECONDS] [-1] [-w]\n"
	"\n"
	"Answers datagrams of any number of clients, from one RDS socket. Ends\n"
	"on SIGINT (Ctrl-C) or SIGTERM.\n"
	"\n"
	"  -a, --address ADDRESS  be reached at this name or address of this\n"
	"                         machine; one must be given\n"
	"  -p, --port PORT        and at this port, 2 to 65535\n"
	"                         (default: " OPTIONS_DEFAULT_PORT
	")\n" TRANSPORT_OPTION
	"  -t, --timeout SECONDS  how long a client may keep us from sending, and\n"
	"                         memory of ours, 1 to 3600 (default: 10)\n"
	"  -1, --once             end when a client says goodbye\n"
	"  -w, --wait             do not read PORT until a message comes to\n"
	"                         PORT + 1, so that PORT becomes congested\n"
	"  -h, --help             print this\n"
	"\n"
	"example: ./server -a 192.0.2.1 --transport tcp\n";

static const char client[] =
	"usage: ./client -a ADDRESS[:PORT] ... [-b LOCAL] [-p PORT] [-T tcp|ib]\n"
	"                [-t SECONDS] [-n COUNT] [-s BYTES] [-x COMMAND] [-k KEY]\n"
	"                [-c] [WORK]\n"
	"\n"
	"Talks to one or more servers from one RDS socket. WORK is what to do:\n"
	"\n"
	"  talk     send each a message and take its answer (the default)\n"
	"  count    send each COUNT numbered messages, as fast as they go; ask\n"
	"           what has come of it\n"
	"  congest  send to a server that does not read (its -w), and see the\n"
	"           congestion begin and end\n"
	"  fill     send until nothing more can be queued, then cancel it\n"
	"  write    write into the server's memory by RDMA; needs ib\n"
	"  bench    round trips and messages per second\n"
	"\n"
	"  -a, --address ADDRESS  a server's name or address, with its port or\n"
	"                         without; up to 8 times\n"
	"  -b, --local ADDRESS    send from this address of this machine's\n"
	"                         (default: the one on the way to the server)\n"
	"  -p, --port PORT        the servers' port, 2 to 65535\n"
	"                         (default: " OPTIONS_DEFAULT_PORT
	")\n" TRANSPORT_OPTION
	"  -t, --timeout SECONDS  how long a server may take for one step,\n"
	"                         1 to 3600 (default: 10)\n"
	"  -n, --count COUNT      messages, 1 to 10000000 (default: 100); below\n"
	"                         1000, p99.9 of bench is the maximum\n"
	"  -s, --size BYTES       of each, from 12, the header (default: 64)\n"
	"  -x, --halfway COMMAND  count: start this when half is sent, such as\n"
	"                         one that breaks the connection; after the last\n"
	"                         message it has SECONDS to end\n"
	"  -k, --key KEY          write: use this key, without asking for one\n"
	"  -c, --csv              bench: comma-separated values\n"
	"  -h, --help             print this\n"
	"\n"
	"example: ./client -a 192.0.2.1 -a 192.0.2.1:4001 --transport tcp\n";

const char *const usage[] = {
	[ROLE_SERVER] = server,
	[ROLE_CLIENT] = client,
};
