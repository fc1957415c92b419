/*
 * options.c - the command line
 */
#include "options.h"

#include <getopt.h>
#include <stddef.h>

#include "log.h"

static const struct option_row rows[] = {
	{ 'a', OPTION_TEXT, "address", "ADDRESS", 0, 0, FOR_SERVER,
	  offsetof(struct options, address), NULL, "all of this machine's",
	  "listen on this name or address only" },
	{ 'a', OPTION_TEXT, "address", "ADDRESS", 0, 0, FOR_CLIENT,
	  offsetof(struct options, address), NULL, NULL,
	  "the server's name or address; it must be on an RDMA device, so 127.0.0.1 will not do" },
	{ 'p', OPTION_DIGITS, "port", "PORT", 1, 65535, FOR_BOTH,
	  offsetof(struct options, port), "20886", NULL, "the server's port" },
	{ 't', OPTION_SECONDS, "timeout", "SECONDS", 1, 3600, FOR_BOTH,
	  offsetof(struct options, timeout_ms), "10", NULL,
	  "how long the peer may take for one step" },
	{ '1', OPTION_FLAG, "once", NULL, 0, 0, FOR_SERVER,
	  offsetof(struct options, once), NULL, NULL,
	  "serve one client, then exit" },
	{ 's', OPTION_TEXT, "send", "TEXT", 0, OPTIONS_MESSAGE_MAX, FOR_CLIENT,
	  offsetof(struct options, text), NULL,
	  "message from active/client side with pid N",
	  "the message, at most 1024 bytes" },
	{ 0 },
};

static const struct optable tables[] = {
	[ROLE_SERVER] = {
		.rows = rows,
		.who = FOR_SERVER,
		.program = "./server",
		.required = "",
		.words = "",
		.purpose = "Waits for clients and, with each of them in turn, "
			   "receives one message\nand sends one, by RDMA. Ends "
			   "on SIGINT (Ctrl-C) or SIGTERM.",
		.example = "./server -a 192.0.2.1",
	},
	[ROLE_CLIENT] = {
		.rows = rows,
		.who = FOR_CLIENT,
		.program = "./client",
		.required = "a",
		.words = "",
		.purpose = "Connects to a server, sends it one message and receives one, by RDMA.",
		.example = "./client -a 192.0.2.1 -s 'hello, RDMA'",
	},
};

int options_parse(struct options *options, enum role role, int argc,
		  char **argv)
{
	int status;

	*options = (struct options){ 0 };
	status = optable_parse(&tables[role], options, argc, argv);
	if (status != OPTIONS_GO_ON)
		return status;
	if (role == ROLE_CLIENT && !options->address) {
		log_fail(
			"the server's address is missing; give it with -a, as in: ./client -a 192.0.2.1");
		return EXIT_USAGE;
	}
	if (optind < argc) {
		log_fail("%s: not an option; see -h", argv[optind]);
		return EXIT_USAGE;
	}
	return OPTIONS_GO_ON;
}
