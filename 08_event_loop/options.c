/*
 * options.c - the command line
 */
#include "options.h"

#include <getopt.h>
#include <limits.h>
#include <stddef.h>

#include "log.h"
#include "pattern.h"

#define MEMBER(name) offsetof(struct options, name)

/* Beside FOR_SERVER and FOR_CLIENT. */
enum {
	FOR_LOAD = 4,
	FOR_ASKING = FOR_CLIENT | FOR_LOAD,
	FOR_ALL = FOR_BOTH | FOR_LOAD
};

static const struct option_row rows[] = {
	{ 'a', OPTION_TEXT, "address", "ADDRESS", 0, 0, FOR_SERVER,
	  MEMBER(address), NULL, "all of this machine's",
	  "listen on this name or address only" },
	{ 'a', OPTION_TEXT, "address", "ADDRESS", 0, 0, FOR_ASKING,
	  MEMBER(address), NULL, NULL,
	  "the server's name or address; it must be on an RDMA device, so 127.0.0.1 will not do" },
	{ 'p', OPTION_DIGITS, "port", "PORT", 1, 65535, FOR_ALL, MEMBER(port),
	  "22228", NULL, "the server's port" },
	{ 't', OPTION_SECONDS, "timeout", "SECONDS", 1, 3600, FOR_ALL,
	  MEMBER(timeout_ms), "10", NULL,
	  "how long the peer may take for one step" },
	{ 'b', OPTION_NUMBER, "bytes", "BYTES", PATTERN_MIN, MSG_MAX_REQUEST,
	  FOR_ALL, MEMBER(bytes), NULL, "1024",
	  "memory to write to, and of a request; both ends need the same" },
	{ 'm', OPTION_NUMBER, "max", "CLIENTS", 1, 12000, FOR_SERVER,
	  MEMBER(max), "10000", NULL, "clients at a time; refuse the others" },
	{ 'w', OPTION_SECONDS, "hold", "SECONDS", 1, 86400, FOR_SERVER,
	  MEMBER(hold_ms), "3600", NULL,
	  "how long a client may stay connected without a request" },
	{ 'v', OPTION_FLAG, "verbose", NULL, 0, 0, FOR_SERVER, MEMBER(verbose),
	  NULL, NULL, "tell how each client's transfer goes" },
	{ 'e', OPTION_NUMBER, "end-after", "COUNT", 1, 1000000, FOR_SERVER,
	  MEMBER(end_after), NULL, "never", "serve COUNT clients, then exit" },
	{ '1', OPTION_FLAG, "once", NULL, 0, 0, FOR_SERVER, MEMBER(once), NULL,
	  NULL, "serve one client, then exit" },
	{ 'N', OPTION_NUMBER, "cycles", "COUNT", 1, 1000000, FOR_CLIENT,
	  MEMBER(cycles), "2", NULL, "requests, one after another" },
	{ 'N', OPTION_NUMBER, "cycles", "COUNT", 1, 1000000, FOR_LOAD,
	  MEMBER(cycles), "10", NULL,
	  "requests of each connection, one after another" },
	{ 'n', OPTION_NUMBER, "count", "COUNT", 1, 20000, FOR_LOAD,
	  MEMBER(count), "100", NULL, "connections at a time" },
	{ 'j', OPTION_NUMBER, "jobs", "COUNT", 1, 1000, FOR_LOAD, MEMBER(jobs),
	  "16", NULL, "connections that may be in the making at a time" },
	{ 'q', OPTION_NUMBER, "depth", "DEPTH", 1, 4096, FOR_LOAD,
	  MEMBER(depth), "16", NULL,
	  "requests at a time, of all connections together" },
	{ 'w', OPTION_SECONDS, "hold", "SECONDS", 1, 3600, FOR_LOAD,
	  MEMBER(hold_ms), NULL, "leave at once",
	  "stay connected for SECONDS after the last answer" },
	{ 'c', OPTION_FLAG, "csv", NULL, 0, 0, FOR_LOAD, MEMBER(csv), NULL,
	  NULL, "print comma-separated values" },
	{ 0 },
};

static const struct optable tables[] = {
	[ROLE_SERVER] = {
		.rows = rows,
		.who = FOR_SERVER,
		.program = "./server",
		.required = "",
		.words = "",
		.purpose = "Waits for clients and answers the requests of all "
			   "of them in one thread: with\nthe checksum of the "
			   "request's data and, if asked to, by writing the "
			   "data to the\nclient's memory. Ends on SIGINT "
			   "(Ctrl-C) or SIGTERM.",
		.example = "./server -a 192.0.2.1",
	},
	[ROLE_CLIENT] = {
		.rows = rows,
		.who = FOR_CLIENT,
		.program = "./client",
		.required = "a",
		.words = "sum|write",
		.purpose = "Connects to a server, sends requests, and checks the answers: with sum, checksums\n"
			   "of the data; with write, also that the server has written the data to its memory.",
		.example = "./client -a 192.0.2.1 write",
	},
	[ROLE_LOAD] = {
		.rows = rows,
		.who = FOR_LOAD,
		.program = "./load/load",
		.required = "a",
		.words = "sum|write",
		.purpose = "Does what ./client does, with many connections in one thread: when all of them\n"
			   "are there, each sends its requests, and the times until the answers are measured.",
		.example = "./load/load -a 192.0.2.1 sum",
	},
};

/* The word after the options says what to ask for. */
static int take_word(struct options *options, int argc, char **argv)
{
	int place;

	if (optind >= argc)
		return log_fail(
			"the last word must say what to ask for: sum or write; see -h");
	if (optind + 1 < argc)
		return log_fail("%s: one word too many; see -h",
				argv[optind + 1]);
	place = optable_word("sum|write", argv[optind]);
	if (place < 0)
		return log_fail("%s: the last word is sum or write; see -h",
				argv[optind]);
	options->writes = place == 1;
	return 0;
}

static int check_client(struct options *options, int argc, char **argv)
{
	if (!options->address)
		return log_fail(
			"the server's address is missing; give it with -a, as in: ./client -a 192.0.2.1 write");
	return take_word(options, argc, argv);
}

int options_parse(struct options *options, enum role role, int argc,
		  char **argv)
{
	int status;

	*options = (struct options){ 0 };
	status = optable_parse(&tables[role], options, argc, argv);
	if (status != OPTIONS_GO_ON)
		return status;
	if (role != ROLE_SERVER && check_client(options, argc, argv))
		return EXIT_USAGE;
	if (role == ROLE_SERVER && optind < argc) {
		log_fail("%s: one word too many; see -h", argv[optind]);
		return EXIT_USAGE;
	}
	if (options->once)
		options->end_after = 1;
	if (!options->end_after)
		options->end_after = UINT_MAX;
	if (!options->bytes)
		options->bytes = OPTIONS_DEFAULT_BYTES;
	return OPTIONS_GO_ON;
}
