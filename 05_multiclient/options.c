/*
 * options.c - the command line
 */
#include "options.h"

#include <getopt.h>
#include <stddef.h>

#include "log.h"
#include "pattern.h"

#define MEMBER(name) offsetof(struct options, name)

static const struct option_row rows[] = {
	{ 'a', OPTION_TEXT, "address", "ADDRESS", 0, 0, FOR_SERVER,
	  MEMBER(address), NULL, "all of this machine's",
	  "listen on this name or address only" },
	{ 'a', OPTION_TEXT, "address", "ADDRESS", 0, 0, FOR_CLIENT,
	  MEMBER(address), NULL, NULL,
	  "the server's name or address; it must be on an RDMA device, so 127.0.0.1 will not do" },
	{ 'p', OPTION_DIGITS, "port", "PORT", 1, 65535, FOR_BOTH, MEMBER(port),
	  "4433", NULL, "the server's port" },
	{ 't', OPTION_SECONDS, "timeout", "SECONDS", 1, 3600, FOR_BOTH,
	  MEMBER(timeout_ms), "10", NULL,
	  "how long the peer may take for one step" },
	{ 'd', OPTION_TEXT, "device", "DEVICE", 0, 0, FOR_BOTH, MEMBER(device),
	  NULL, "the first that has the address in use and an active port",
	  "RDMA device" },
	{ 'i', OPTION_NUMBER, "ib-port", "NUMBER", 1, 255, FOR_BOTH,
	  MEMBER(port_num), NULL, "the first active one",
	  "port of the device" },
	{ 'g', OPTION_NUMBER, "gid-index", "INDEX", 0, 255, FOR_BOTH,
	  MEMBER(gid_index), NULL,
	  "on RoCE the v2 GID of the address in use; else 0",
	  "GID of the port" },
	{ 'S', OPTION_NUMBER, "service-level", "LEVEL", 0, 15, FOR_BOTH,
	  MEMBER(network.service_level), NULL, "0",
	  "the service level of our packets, on InfiniBand" },
	{ 'Q', OPTION_NUMBER, "traffic-class", "BYTE", 0, 255, FOR_BOTH,
	  MEMBER(network.traffic_class), NULL, "0",
	  "the quality of service of our packets: 4 times the DSCP" },
	{ 'I', OPTION_NUMBER, "pkey-index", "INDEX", 0, 65535, FOR_BOTH,
	  MEMBER(network.pkey_index), NULL, "0",
	  "the partition, in the port's table of P_Keys" },
	{ 'M', OPTION_WORD, "mtu", "port|256|512|1024|2048|4096", 0, 0,
	  FOR_BOTH, MEMBER(network.mtu), "port", NULL,
	  "the most data in a packet; the smaller value of the two ends counts" },
	{ 'E', OPTION_NUMBER, "ack-timeout", "EXPONENT", 1, 31, FOR_BOTH,
	  MEMBER(network.ack_timeout), NULL, "14, which is 67 ms",
	  "wait 4.096 us times 2 to this power for an acknowledgement" },
	{ 'N', OPTION_NUMBER, "retry-count", "COUNT", 1, 7, FOR_BOTH,
	  MEMBER(network.retry_count), NULL, "6",
	  "send a packet again up to COUNT times; 7 means for ever on rxe" },
	{ 'P', OPTION_HEX, "psn", "PSN", 0, 0xffffff, FOR_BOTH, MEMBER(psn),
	  NULL, "a random one", "first packet sequence number" },
	{ 'C', OPTION_TEXT, "cert", "FILE", 0, 0, FOR_SERVER, MEMBER(cert),
	  "certs/server.pem", NULL, "our certificate" },
	{ 'C', OPTION_TEXT, "cert", "FILE", 0, 0, FOR_CLIENT, MEMBER(cert),
	  "certs/client.pem", NULL, "our certificate" },
	{ 'K', OPTION_TEXT, "key", "FILE", 0, 0, FOR_SERVER, MEMBER(key),
	  "certs/server.key", NULL, "its private key" },
	{ 'K', OPTION_TEXT, "key", "FILE", 0, 0, FOR_CLIENT, MEMBER(key),
	  "certs/client.key", NULL, "its private key" },
	{ 'A', OPTION_TEXT, "ca", "FILE", 0, 0, FOR_BOTH, MEMBER(ca),
	  "certs/ca.pem", NULL,
	  "the CA that must have signed the peer's certificate" },
	{ 'l', OPTION_TEXT, "list", "FILE", 0, 0, FOR_SERVER, MEMBER(list),
	  NULL, "all that the CA has signed",
	  "serve only clients in this list, which has a line for each: the URI in the certificate's subjectAltName, and write, read or both" },
	{ 'b', OPTION_NUMBER, "bytes", "BYTES", PATTERN_MIN, MSG_MAX_LENGTH,
	  FOR_BOTH, MEMBER(bytes), NULL, "1024",
	  "memory to write to or read from, every byte of it checked; both ends need the same" },
	{ 'm', OPTION_NUMBER, "max", "MAX", 1, 100000, FOR_SERVER, MEMBER(max),
	  "1024", NULL,
	  "clients to serve at a time; any more are told that the server is full" },
	{ 'U', OPTION_NUMBER, "per-identity", "MAX", 1, 100000, FOR_SERVER,
	  MEMBER(per_identity), NULL, "any number",
	  "clients at a time with one identity, which their certificates name" },
	{ 'X', OPTION_NUMBER, "per-address", "MAX", 1, 100000, FOR_SERVER,
	  MEMBER(per_address), "1024", NULL,
	  "connections at a time from one address that have not shown who they are" },
	{ 'G', OPTION_NUMBER, "grace", "SECONDS", 0, 3600, FOR_SERVER,
	  MEMBER(grace), "10", NULL,
	  "how long the last clients may take after a signal" },
	{ 'e', OPTION_NUMBER, "end-after", "COUNT", 1, 1000000, FOR_SERVER,
	  MEMBER(end_after), NULL, "do not end",
	  "take COUNT connections, then end when the last has left" },
	{ '1', OPTION_FLAG, "once", NULL, 0, 0, FOR_SERVER, MEMBER(once), NULL,
	  NULL, "the same as -e 1, unless -e is given" },
	{ 'w', OPTION_NUMBER, "hold", "SECONDS", 0, OPTIONS_HOLD_MAX,
	  FOR_CLIENT, MEMBER(hold), "0", NULL,
	  "stay connected for SECONDS when everything is done" },
	{ 'r', OPTION_NUMBER, "retries", "TRIES", 0, 1000, FOR_CLIENT,
	  MEMBER(retries), "0", NULL,
	  "try TRIES times again, where that may help: the server is full, refuses, or does not answer, and nothing has been sent yet" },
	{ 0 },
};

static const struct optable tables[] = {
	[ROLE_SERVER] = {
		.rows = rows,
		.who = FOR_SERVER,
		.program = "./server",
		.required = "",
		.words = "write|read",
		.purpose = "Waits for clients and, with all of them at a time, "
			   "exchanges memory regions\nand writes to the "
			   "client's memory or reads from it, by RDMA; the "
			   "client must\nsay the same word. After SIGINT "
			   "(Ctrl-C) or SIGTERM, takes no new clients and\n"
			   "ends when the others have left; after a second "
			   "one, ends at once. On SIGUSR1,\nprints figures; "
			   "on SIGHUP, reads the certificates again.",
		.example = "./server -a 192.0.2.1 write",
	},
	[ROLE_CLIENT] = {
		.rows = rows,
		.who = FOR_CLIENT,
		.program = "./client",
		.required = "a",
		.words = "write|read",
		.purpose = "Connects to a server, exchanges memory regions "
			   "with it and writes to its\nmemory or reads from "
			   "it, by RDMA; the server must say the same word.",
		.example = "./client -a 192.0.2.1 write",
	},
};

/* The word after the options says what to do. */
static int take_mode(struct options *options, int argc, char **argv)
{
	int place;

	if (optind >= argc)
		return log_fail(
			"the last word must say what to do: write or read; see -h");
	if (optind + 1 < argc)
		return log_fail("%s: one word too many; see -h",
				argv[optind + 1]);
	place = optable_word("write|read", argv[optind]);
	if (place < 0)
		return log_fail("%s: the mode is write or read; see -h",
				argv[optind]);
	options->mode = place == 0 ? MODE_WRITE : MODE_READ;
	return 0;
}

/* One number for all would be as good as none: each could guess the others'. */
static int check_psn(const struct options *options, enum role role)
{
	if (options->psn < 0 || role == ROLE_CLIENT || options->end_after == 1)
		return 0;
	return log_fail("-P is for one connection: give -1 with it");
}

int options_parse(struct options *options, enum role role, int argc,
		  char **argv)
{
	int status;

	*options = (struct options){ .gid_index = -1, .psn = -1 };
	status = optable_parse(&tables[role], options, argc, argv);
	if (status != OPTIONS_GO_ON)
		return status;
	if (role == ROLE_CLIENT && !options->address) {
		log_fail(
			"the server's address is missing; give it with -a, as in: ./client -a 192.0.2.1 write");
		return EXIT_USAGE;
	}
	if (options->once && !options->end_after)
		options->end_after = 1;
	if (take_mode(options, argc, argv) || check_psn(options, role))
		return EXIT_USAGE;
	options->counts = options->bytes;
	if (!options->bytes)
		options->bytes = OPTIONS_DEFAULT_BYTES;
	return OPTIONS_GO_ON;
}
