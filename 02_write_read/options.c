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
	  "22222", NULL, "the server's port" },
	{ 't', OPTION_SECONDS, "timeout", "SECONDS", 1, 3600, FOR_BOTH,
	  MEMBER(timeout_ms), "10", NULL,
	  "how long the peer may take for one step" },
	{ 'o', OPTION_WORD, "order", "first|answer", 0, 0, FOR_SERVER,
	  MEMBER(order), "answer", NULL,
	  "send MSG_MR first, or as an answer to the client's" },
	{ 'o', OPTION_WORD, "order", "first|answer", 0, 0, FOR_CLIENT,
	  MEMBER(order), "first", NULL,
	  "send MSG_MR first, or as an answer to the server's" },
	{ 'b', OPTION_NUMBER, "bytes", "BYTES", PATTERN_MIN, MSG_MAX_LENGTH,
	  FOR_BOTH, MEMBER(bytes), NULL, "1024",
	  "memory to write to or read from, every byte of it checked; both ends need the same" },
	{ '1', OPTION_FLAG, "once", NULL, 0, 0, FOR_SERVER, MEMBER(once), NULL,
	  NULL, "serve one client, then exit" },
	{ 0 },
};

static const struct optable tables[] = {
	[ROLE_SERVER] = {
		.rows = rows,
		.who = FOR_SERVER,
		.program = "./server",
		.required = "",
		.words = "write|read",
		.purpose = "Waits for clients and, with each of them in turn, "
			   "exchanges memory regions\nand writes to the "
			   "client's memory or reads from it, by RDMA; the "
			   "client must\nsay the same word. Ends on SIGINT "
			   "(Ctrl-C) or SIGTERM.",
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
			"the server's address is missing; give it with -a, as in: ./client -a 192.0.2.1 write");
		return EXIT_USAGE;
	}
	if (take_mode(options, argc, argv))
		return EXIT_USAGE;
	options->first = options->order == 0;
	options->counts = options->bytes;
	if (!options->bytes)
		options->bytes = OPTIONS_DEFAULT_BYTES;
	return OPTIONS_GO_ON;
}
