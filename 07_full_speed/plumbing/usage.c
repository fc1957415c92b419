/*
 * usage.c - what -h prints
 */
#include "usage.h"

static const char server[] =
	"usage: ./server [-a ADDRESS] [-p PORT] [-t SECONDS] [-o ORDER]\n"
	"                [-b BYTES] [-1] write|read\n"
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
	"  -o, --order ORDER      send MSG_MR first, or as an answer to the\n"
	"                         client's (first, answer; default: answer)\n"
	"  -b, --bytes BYTES      memory to write to or read from, 64 to 67108864;\n"
	"                         the client must say the same (default: 1024)\n"
	"  -1, --once             serve one client, then exit\n"
	"  -h, --help             print this\n"
	"\n"
	"example: ./server -a 192.0.2.1 write\n";

static const char client[] =
	"usage: ./client -a ADDRESS [-p PORT] [-t SECONDS] [-o ORDER]\n"
	"                [-b BYTES] write|read\n"
	"       ./client -a ADDRESS [-p PORT] [-t SECONDS] -n COUNT\n"
	"                [-b BYTES] [-q DEPTH] [-c] [-W LIST]\n"
	"\n"
	"Connects to a server, exchanges memory regions with it and writes to\n"
	"its memory or reads from it, by RDMA; or measures how fast that is.\n"
	"\n"
	"  write|read             what to do; the server must say the same\n"
	"  -a, --address ADDRESS  the server's name or address; it must be on\n"
	"                         an RDMA device, so 127.0.0.1 will not do\n"
	"  -p, --port PORT        the server's port, 1 to 65535\n"
	"                         (default: " OPTIONS_DEFAULT_PORT ")\n"
	"  -t, --timeout SECONDS  how long the server may take for one step,\n"
	"                         1 to 3600 (default: 10)\n"
	"  -o, --order ORDER      send MSG_MR first, or as an answer to the\n"
	"                         server's (first, answer; default: first)\n"
	"  -b, --bytes BYTES      memory to write to or read from, 64 to 67108864;\n"
	"                         the server must say the same (default: 1024)\n"
	"  -n, --count COUNT      benchmark: COUNT writes, then COUNT reads,\n"
	"                         1 to 10000000; whatever the server's mode;\n"
	"                         below 1000, p99.9 is the maximum\n"
	"  -b, --bytes BYTES      with -n, of each operation, 1 to 67108864\n"
	"                         (default: 4096)\n"
	"  -q, --depth DEPTH      operations at a time, 1 to 1024\n"
	"                         (default: 64)\n"
	"  -c, --csv              print comma-separated values\n"
	"  -W, --without LIST     do without some of: selective, chains,\n"
	"                         batches, inline (with commas between them)\n"
	"  -h, --help             print this\n"
	"\n"
	"example: ./client -a 192.0.2.1 write\n";

const char *const usage[] = {
	[ROLE_SERVER] = server,
	[ROLE_CLIENT] = client,
};
