/*
 * usage.c - what -h prints
 */
#include "usage.h"

static const char server[] =
	"usage: ./server [-a ADDRESS] [-p PORT] [-t SECONDS] [-d DIRECTORY]\n"
	"                [-q DEPTH] [-1]\n"
	"\n"
	"Waits for clients and takes the files of each of them in turn, or lends\n"
	"it memory for a benchmark. Ends on SIGINT (Ctrl-C) or SIGTERM.\n"
	"\n"
	"  -a, --address ADDRESS  listen on this name or address only\n"
	"                         (default: all of this machine's)\n"
	"  -p, --port PORT        listen on this port, 1 to 65535\n"
	"                         (default: " OPTIONS_DEFAULT_PORT ")\n"
	"  -t, --timeout SECONDS  how long a client may take for one step,\n"
	"                         1 to 3600 (default: 10)\n"
	"  -d, --directory DIRECTORY\n"
	"                         put files there (default: take none)\n"
	"  -q, --depth DEPTH      the most parts of a file at a time, 4 to 1024;\n"
	"                         a client may want fewer (default: 64)\n"
	"  -1, --once             serve one client, then exit\n"
	"  -h, --help             print this\n"
	"\n"
	"example: ./server -a 192.0.2.1 -d /tmp\n";

static const char client[] =
	"usage: ./client -a ADDRESS [-p PORT] [-t SECONDS] [-q DEPTH] [-b BYTES]\n"
	"                [-R TRIES] [-c] send|write|read FILE...\n"
	"       ./client -a ADDRESS [-p PORT] [-t SECONDS] [-q DEPTH] [-b BYTES]\n"
	"                [-c] [-W LIST] -n COUNT\n"
	"\n"
	"Sends files to a server, or measures how fast writes and reads are.\n"
	"\n"
	"  send|write|read        how files go: by SEND; by WRITE into a ring\n"
	"                         of the server's; or the server READs them\n"
	"  -a, --address ADDRESS  the server's name or address; it must be on\n"
	"                         an RDMA device, so 127.0.0.1 will not do\n"
	"  -p, --port PORT        the server's port, 1 to 65535\n"
	"                         (default: " OPTIONS_DEFAULT_PORT ")\n"
	"  -t, --timeout SECONDS  how long the server may take for one step,\n"
	"                         1 to 3600 (default: 10)\n"
	"  -q, --depth DEPTH      parts or operations at a time, 1 to 1024; for\n"
	"                         files at least 4 (default: 64)\n"
	"  -b, --bytes BYTES      of a part or an operation, 1 to 67108864; for\n"
	"                         files at least 256 (default: 65536; with -n\n"
	"                         4096)\n"
	"  -R, --reconnect TRIES  if the connection breaks, try so often again\n"
	"                         without getting on, 0 to 1000 (default: 0)\n"
	"  -n, --count COUNT      benchmark: COUNT writes, then COUNT reads,\n"
	"                         1 to 10000000; below 1000, p99.9 is the\n"
	"                         maximum\n"
	"  -c, --csv              print comma-separated values\n"
	"  -W, --without LIST     with -n: do without some of selective, chains,\n"
	"                         batches, inline (with commas between them)\n"
	"  -h, --help             print this\n"
	"\n"
	"example: ./client -a 192.0.2.1 write FILE\n";

const char *const usage[] = {
	[ROLE_SERVER] = server,
	[ROLE_CLIENT] = client,
};
