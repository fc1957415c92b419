/*
 * options.c - the command line
 */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stddef.h>
#include <stdlib.h>

#include <linux/rds.h>

#include "dgram.h"
#include "log.h"

#define MEMBER(name) offsetof(struct options, name)

static const struct option_row rows[] = {
	{ 'a', OPTION_LIST, "address", "ADDRESS", 0, 1, FOR_SERVER,
	  MEMBER(addresses), NULL, NULL,
	  "the name or address of this machine to listen on; one must be given" },
	{ 'a', OPTION_LIST, "address", "ADDRESS[:PORT]", 0, OPTIONS_MAX_PEERS,
	  FOR_CLIENT, MEMBER(addresses), NULL, NULL,
	  "a server's name or address, with its port or without; up to 8 times" },
	{ 'b', OPTION_TEXT, "local", "ADDRESS", 0, 0, FOR_CLIENT, MEMBER(local),
	  NULL, "the one on the way to the server",
	  "send from this address of this machine" },
	/* Port 1 is the kernel's, as 0 is. */
	{ 'p', OPTION_DIGITS, "port", "PORT", 2, 65535, FOR_BOTH, MEMBER(port),
	  "4000", NULL, "the port of the server or servers" },
	{ 'T', OPTION_WORD, "transport", "tcp|ib", 0, 0, FOR_BOTH,
	  MEMBER(transport), NULL,
	  "the kernel chooses: ib where an RDMA device has the address",
	  "the transport that the kernel sends over" },
	{ 't', OPTION_SECONDS, "timeout", "SECONDS", 1, 3600, FOR_SERVER,
	  MEMBER(timeout_ms), "10", NULL,
	  "how long a client may keep us from sending, or keep memory of ours" },
	{ 't', OPTION_SECONDS, "timeout", "SECONDS", 1, 3600, FOR_CLIENT,
	  MEMBER(timeout_ms), "10", NULL,
	  "how long a server may take for one step" },
	{ '1', OPTION_FLAG, "once", NULL, 0, 0, FOR_SERVER, MEMBER(once), NULL,
	  NULL, "end when a client says goodbye" },
	{ 'w', OPTION_FLAG, "wait", NULL, 0, 0, FOR_SERVER, MEMBER(wait), NULL,
	  NULL,
	  "do not read PORT until a message comes to PORT + 1, so that PORT becomes congested" },
	{ 'n', OPTION_NUMBER, "count", "COUNT", 1, 10000000, FOR_CLIENT,
	  MEMBER(count), "100", NULL,
	  "how many messages; below 1000, p99.9 of bench is the maximum" },
	/* More than RDS takes, so that its refusal can be seen. */
	{ 's', OPTION_NUMBER, "size", "BYTES", DGRAM_HEADER, 2 * DGRAM_MAX,
	  FOR_CLIENT, MEMBER(bytes), "64", NULL,
	  "the size of each message; the header takes the first 12 bytes" },
	{ 'x', OPTION_TEXT, "halfway", "COMMAND", 0, 0, FOR_CLIENT,
	  MEMBER(command), NULL, NULL,
	  "count: run this command when half of the messages are sent, to break the connection, for example; it must end within SECONDS of the last message" },
	{ 'k', OPTION_TEXT, "key", "KEY", 0, 0, FOR_CLIENT, MEMBER(key_text),
	  NULL, NULL, "write: use this key, without asking for one" },
	{ 'c', OPTION_FLAG, "csv", NULL, 0, 0, FOR_CLIENT, MEMBER(csv), NULL,
	  NULL, "bench: comma-separated values" },
	{ 0 },
};

static const struct optable tables[] = {
	[ROLE_SERVER] = {
		.rows = rows,
		.who = FOR_SERVER,
		.program = "./server",
		.required = "a",
		.words = "",
		.purpose = "Answers datagrams of any number of clients, from "
			   "one RDS socket. Ends on\nSIGINT (Ctrl-C) or "
			   "SIGTERM.",
		.example = "./server -a 192.0.2.1 --transport tcp",
	},
	[ROLE_CLIENT] = {
		.rows = rows,
		.who = FOR_CLIENT,
		.program = "./client",
		.required = "a",
		.words = "[WORK]",
		.purpose = "Talks to one or more servers from one RDS socket. "
			   "WORK is what to do:\n\n"
			   "  talk     send each a message and take its answer "
			   "(the default)\n"
			   "  count    send each COUNT numbered messages, as "
			   "fast as they go; ask\n"
			   "           what has come of it\n"
			   "  congest  send to a server that does not read (its"
			   "-w), and see the\n"
			   "           congestion begin and end\n"
			   "  fill     send until nothing more can be queued, "
			   "then cancel it\n"
			   "  write    write into the server's memory by RDMA; "
			   "needs ib\n"
			   "  bench    round trips and messages per second",
		.example = "./client -a 192.0.2.1 -a 192.0.2.1:4001 --transport tcp",
	},
};

/* The numbers of the kernel for the words of -T. */
static void take_transport(struct options *options)
{
	static const int transports[] = { RDS_TRANS_TCP, RDS_TRANS_IB };

	options->transport = options->transport < 0 ?
				     (int)RDS_TRANS_NONE :
				     transports[options->transport];
}

static int take_key(struct options *options)
{
	const char *text = options->key_text;
	char *end;

	if (!text)
		return OPTIONS_GO_ON;
	errno = 0;
	options->key = strtoull(text, &end, 0);
	if (end != text && !*end && !errno && *text != '-' && options->key)
		return OPTIONS_GO_ON;
	log_fail(
		"-k %s: a key is a number of 64 bits and not 0, such as 0x12345",
		text);
	return EXIT_USAGE;
}

/* The words after the options. */
static int take_work(struct options *options, int argc, char **argv)
{
	/* In the order of enum work. */
	int work = optable_word("talk|count|congest|fill|write|bench",
				argv[optind]);

	if (work < 0) {
		log_fail("%s: not something that this client can do; see -h",
			 argv[optind]);
		return EXIT_USAGE;
	}
	options->work = work;
	if (optind + 1 < argc) {
		log_fail("%s: not an option; see -h", argv[optind + 1]);
		return EXIT_USAGE;
	}
	return OPTIONS_GO_ON;
}

int options_parse(struct options *options, enum role role, int argc,
		  char **argv)
{
	int status;

	*options = (struct options){ .transport = -1 };
	status = optable_parse(&tables[role], options, argc, argv);
	if (status != OPTIONS_GO_ON)
		return status;
	take_transport(options);
	while (options->addresses[options->address_count])
		options->address_count++;
	status = take_key(options);
	if (status != OPTIONS_GO_ON)
		return status;
	if (!options->address_count) {
		log_fail(
			"an address is missing: an RDS socket is bound to one address, so give it with -a, as in: -a 192.0.2.1");
		return EXIT_USAGE;
	}
	if (optind < argc && role == ROLE_CLIENT)
		return take_work(options, argc, argv);
	if (optind < argc) {
		log_fail("%s: not an option; see -h", argv[optind]);
		return EXIT_USAGE;
	}
	return OPTIONS_GO_ON;
}
