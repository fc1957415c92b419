/*
 * options.c - the command line
 */
#include "options.h"

#include <getopt.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "filename.h"
#include "flow.h"
#include "head.h"
#include "log.h"

#define MEMBER(name) offsetof(struct options, name)

static const struct option_row rows[] = {
	{ 'a', OPTION_TEXT, "address", "ADDRESS", 0, 0, FOR_SERVER,
	  MEMBER(address), NULL, "all of this machine's",
	  "listen on this name or address only" },
	{ 'a', OPTION_TEXT, "address", "ADDRESS", 0, 0, FOR_CLIENT,
	  MEMBER(address), NULL, NULL,
	  "the server's name or address; it must be on an RDMA device, so 127.0.0.1 will not do" },
	{ 'p', OPTION_DIGITS, "port", "PORT", 1, 65535, FOR_BOTH, MEMBER(port),
	  "22227", NULL, "the server's port" },
	{ 't', OPTION_SECONDS, "timeout", "SECONDS", 1, 3600, FOR_BOTH,
	  MEMBER(timeout_ms), "10", NULL,
	  "how long the peer may take for one step" },
	{ 'd', OPTION_TEXT, "directory", "DIRECTORY", 0, 0, FOR_SERVER,
	  MEMBER(directory), NULL, "take none", "put files there" },
	{ 'u', OPTION_FLAG, "update", NULL, 0, 0, FOR_SERVER, MEMBER(update),
	  NULL, NULL, "replace files there with newer ones of the same name" },
	{ 'M', OPTION_NUMBER, "most", "MIB", 1, 1 << 30, FOR_SERVER,
	  MEMBER(most), "1024", NULL,
	  "refuse a file if it would bring all files there to more than this many MiB" },
	{ 'B', OPTION_FLAG, "benchmark", NULL, 0, 0, FOR_SERVER,
	  MEMBER(benchmark), NULL, NULL,
	  "lend memory to clients that measure: to any of them, 64 MiB at most" },
	{ 'q', OPTION_NUMBER, "depth", "DEPTH", 1, OPTIONS_DEPTH_MAX,
	  FOR_SERVER, MEMBER(depth), "64", NULL,
	  "the most parts of a file at a time, at least 4; a client may want fewer" },
	{ 'q', OPTION_NUMBER, "depth", "DEPTH", 1, OPTIONS_DEPTH_MAX,
	  FOR_CLIENT, MEMBER(depth), "64", NULL,
	  "parts or operations at a time; for files at least 4" },
	{ 'b', OPTION_NUMBER, "bytes", "BYTES", 1, MSG_MAX_LENGTH, FOR_CLIENT,
	  MEMBER(bytes), NULL, "65536; with -n 4096",
	  "size of a part or an operation; for files at least 256" },
	{ 'R', OPTION_NUMBER, "reconnect", "TRIES", 0, 1000, FOR_CLIENT,
	  MEMBER(tries), "0", NULL,
	  "if the connection breaks, try again, up to TRIES times without progress" },
	{ 'Q', OPTION_NUMBER, "traffic-class", "BYTE", 0, 255, FOR_CLIENT,
	  MEMBER(traffic_class), NULL, "0",
	  "traffic class of the packets, both ways: 4 times the DSCP" },
	{ 'n', OPTION_NUMBER, "count", "COUNT", 1, 10000000, FOR_CLIENT,
	  MEMBER(count), NULL, NULL,
	  "benchmark: COUNT writes, then COUNT reads; below 1000, p99.9 is the maximum" },
	{ 'c', OPTION_FLAG, "csv", NULL, 0, 0, FOR_CLIENT, MEMBER(csv), NULL,
	  NULL, "print comma-separated values" },
	{ 'W', OPTION_LIST, "without", "LIST", 0, OPTIONS_LISTS, FOR_CLIENT,
	  MEMBER(without_lists), NULL, NULL,
	  "with -n: do without some of selective, chains, batches, inline (separated by commas)" },
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
		.words = "",
		.purpose = "Waits for clients and takes the files of each of "
			   "them in turn, or lends it\nmemory for a "
			   "benchmark (-B). Ends on SIGINT (Ctrl-C) or SIGTERM.",
		.example = "./server -a 192.0.2.1 -d incoming",
	},
	[ROLE_CLIENT] = {
		.rows = rows,
		.who = FOR_CLIENT,
		.program = "./client",
		.required = "a",
		.words = "send|write|read FILE...",
		.purpose = "Sends files to a server: by SEND; by WRITE into a "
			   "ring of the server's; or the\nserver READs them. "
			   "With -n COUNT and no files, measures how fast "
			   "writes and\nreads are.",
		.example = "./client -a 192.0.2.1 write FILE",
	},
};

static int parse_without(struct options *options, const char *text)
{
	static char *const names[] = { "selective", "chains", "batches",
				       "inline", NULL };
	/*
	 * getsubopt(3) cuts up its text, so give it a copy of what is in argv.
	 */
	char *copy = strdup(text), *rest = copy, *value;
	bool known = copy && *text;
	int i;

	while (known && *rest) {
		i = getsubopt(&rest, names, &value);
		known = i >= 0 && !value;
		if (known)
			options->without |= 1U << i;
	}
	free(copy);
	if (known)
		return 0;
	return log_fail(
		"-W %s: give some of selective, chains, batches, inline, separated by commas",
		text);
}

static int parse_mode(struct options *options, const char *text)
{
	static const enum mode modes[] = { MODE_SEND, MODE_WRITE, MODE_READ };

	for (int i = 0; i < 3; i++)
		if (!strcmp(text, msg_mode_name(modes[i]))) {
			options->mode = modes[i];
			return 0;
		}
	return log_fail("%s: files go by send, write or read; see -h", text);
}

/* What is left after the options: how, and which files; or nothing with -n. */
static int check_rest(struct options *options, int argc, char **argv)
{
	for (const char **list = options->without_lists; *list; list++)
		if (parse_without(options, *list))
			return -1;
	if (options->count) {
		if (optind < argc)
			return log_fail(
				"%s: a benchmark (-n) measures writes and reads; give no files with it",
				argv[optind]);
		options->mode = MODE_BENCH;
		return 0;
	}
	if (options->without)
		return log_fail(
			"-W is for a benchmark; ask for one with -n COUNT");
	if (optind + 1 >= argc)
		return log_fail(
			"after the options, give send, write or read, and then the files; see -h");
	options->files = argv + optind + 1;
	options->file_count = argc - optind - 1;
	if (parse_mode(options, argv[optind]))
		return -1;
	return filename_check_all(options->files, options->file_count);
}

/* A channel has room for credits, and a part for a name. */
static int check_channel(const struct options *options)
{
	if (options->depth < FLOW_LEAST)
		return log_fail("-q %u: for files, give at least %d",
				options->depth, FLOW_LEAST);
	if (options->bytes < HEAD_TEXT)
		return log_fail("-b %u: for files, give at least %d",
				options->bytes, HEAD_TEXT);
	if ((size_t)options->depth * options->bytes > MSG_MAX_LENGTH)
		return log_fail(
			"-q %u and -b %u: together, they must not be more than %d bytes",
			options->depth, options->bytes, MSG_MAX_LENGTH);
	return 0;
}

/* What a client does is in the words behind its options. */
static int check_client(struct options *options, int argc, char **argv)
{
	if (!options->address)
		return log_fail(
			"the server's address is missing; give it with -a, as in: ./client -a 192.0.2.1 send FILE");
	if (check_rest(options, argc, argv))
		return -1;
	/* Only now: 0 meant that it was not given. */
	if (!options->bytes)
		options->bytes = options->count ? OPTIONS_BENCH_BYTES :
						  OPTIONS_FILE_BYTES;
	return options->count ? 0 : check_channel(options);
}

int options_parse(struct options *options, enum role role, int argc,
		  char **argv)
{
	int status;

	*options = (struct options){ 0 };
	status = optable_parse(&tables[role], options, argc, argv);
	if (status != OPTIONS_GO_ON)
		return status;
	if (role == ROLE_CLIENT)
		return check_client(options, argc, argv) ? EXIT_USAGE :
							   OPTIONS_GO_ON;
	if (optind < argc) {
		log_fail("%s: one word too many; see -h", argv[optind]);
		return EXIT_USAGE;
	}
	options->bytes = FLOW_LEAST * HEAD_TEXT;
	return check_channel(options) ? EXIT_USAGE : OPTIONS_GO_ON;
}
