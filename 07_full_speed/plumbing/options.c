/*
 * options.c - the command line
 */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "channel.h"
#include "log.h"
#include "pump.h"
#include "usage.h"

static const struct option long_options[] = {
	{ "address", required_argument, NULL, 'a' },
	{ "port", required_argument, NULL, 'p' },
	{ "timeout", required_argument, NULL, 't' },
	{ "once", no_argument, NULL, '1' },
	{ "directory", required_argument, NULL, 'd' },
	{ "reconnect", required_argument, NULL, 'R' },
	{ "count", required_argument, NULL, 'n' },
	{ "bytes", required_argument, NULL, 'b' },
	{ "depth", required_argument, NULL, 'q' },
	{ "csv", no_argument, NULL, 'c' },
	{ "without", required_argument, NULL, 'W' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

/* The options of each role; ':' first: getopt leaves the errors to us. */
static const char *const short_options[] = {
	[ROLE_SERVER] = ":a:p:t:d:q:1h",
	[ROLE_CLIENT] = ":a:p:t:b:q:R:n:cW:h",
};

/* Whether text is a whole number from min to max; if so, it is *number. */
static bool parse_number(const char *text, long min, long max, long *number)
{
	char *end;

	errno = 0;
	*number = strtol(text, &end, 10);
	return end != text && !*end && !errno && *number >= min &&
	       *number <= max;
}

static int parse_port(struct options *options, const char *text)
{
	long port;

	if (!parse_number(text, 1, 65535, &port)) {
		log_fail("-p %s: a port is a number from 1 to 65535; without "
			 "-p it is " OPTIONS_DEFAULT_PORT,
			 text);
		return EXIT_USAGE;
	}
	options->port = text;
	return OPTIONS_GO_ON;
}

static int parse_timeout(struct options *options, const char *text)
{
	long seconds;

	if (!parse_number(text, 1, 3600, &seconds)) {
		log_fail("-t %s: give a whole number of seconds from 1 to "
			 "3600; without -t it is 10",
			 text);
		return EXIT_USAGE;
	}
	options->timeout_ms = (int)seconds * 1000;
	return OPTIONS_GO_ON;
}

/* The number of the option with this letter. */
static int parse_range(char letter, const char *text, long min, long max,
		       long *number)
{
	if (parse_number(text, min, max, number))
		return OPTIONS_GO_ON;
	log_fail("-%c %s: give a whole number from %ld to %ld", letter, text,
		 min, max);
	return EXIT_USAGE;
}

static int parse_without(struct options *options, const char *text)
{
	static char *const names[] = { "selective", "chains", "batches",
				       "inline", NULL };
	/* getsubopt(3) cuts its text into words: not in argv, please. */
	char *copy = strdup(text), *rest = copy, *value;
	int status = OPTIONS_GO_ON, i;

	while (copy && *rest && status == OPTIONS_GO_ON) {
		i = getsubopt(&rest, names, &value);
		if (i < 0 || value)
			status = EXIT_USAGE;
		else
			options->without |= 1U << i;
	}
	free(copy);
	if (copy && *text && status == OPTIONS_GO_ON)
		return OPTIONS_GO_ON;
	log_fail("-W %s: give some of selective, chains, batches, inline, "
		 "with commas between them",
		 text);
	return EXIT_USAGE;
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

static int parse_option(struct options *options, enum role role, int option)
{
	long number;
	int status;

	switch (option) {
	case 'a':
		options->address = optarg;
		return OPTIONS_GO_ON;
	case 'p':
		return parse_port(options, optarg);
	case 't':
		return parse_timeout(options, optarg);
	case '1':
		options->once = true;
		return OPTIONS_GO_ON;
	case 'd':
		options->directory = optarg;
		return OPTIONS_GO_ON;
	case 'b':
		status = parse_range('b', optarg, 1, MSG_MAX_LENGTH, &number);
		options->bytes = number;
		return status;
	case 'R':
		status = parse_range('R', optarg, 0, 1000, &number);
		options->tries = number;
		return status;
	case 'n':
		status = parse_range('n', optarg, 1, 10000000, &number);
		options->count = number;
		return status;
	case 'q':
		status =
			parse_range('q', optarg, 1, CHANNEL_DEPTH_MAX, &number);
		options->depth = number;
		return status;
	case 'c':
		options->csv = true;
		return OPTIONS_GO_ON;
	case 'W':
		return parse_without(options, optarg);
	case 'h':
		fputs(usage[role], stdout);
		return EXIT_DONE;
	default:
		return EXIT_USAGE;
	}
}

static int unknown_option(const char *name)
{
	log_fail("%s: no such option here; see -h", name);
	return '?';
}

/* The next option, '?' having said why it is none, or -1 after the last. */
static int next_option(enum role role, int argc, char **argv)
{
	int option = getopt_long(argc, argv, short_options[role], long_options,
				 NULL);

	if (option == ':') {
		log_fail("%s: needs a value; see -h", argv[optind - 1]);
		return '?';
	}
	/* The letter is known: it is a long option with a value too many. */
	if (option == '?' && optopt && optopt != ':' &&
	    strchr(short_options[role], optopt)) {
		log_fail("%s: takes no value; see -h", argv[optind - 1]);
		return '?';
	}
	if (option == '?')
		return unknown_option(optopt ? (char[]){ '-', optopt, 0 } :
					       argv[optind - 1]);
	/* The long names are those of both roles. */
	if (option > 0 && !strchr(short_options[role], option))
		return unknown_option((char[]){ '-', option, 0 });
	return option;
}

/* What is left after the options: how, and which files; or nothing with -n. */
static int check_rest(struct options *options, int argc, char **argv)
{
	if (options->count) {
		if (optind < argc)
			return log_fail("%s: a benchmark (-n) measures writes "
					"and reads; give no files with it",
					argv[optind]);
		options->mode = MODE_BENCH;
		return 0;
	}
	if (options->without)
		return log_fail("-W is for a benchmark; ask for one with "
				"-n COUNT");
	if (optind + 1 >= argc)
		return log_fail("what shall it do? after the options come "
				"send, write or read, and files; see -h");
	options->files = argv + optind + 1;
	options->file_count = argc - optind - 1;
	return parse_mode(options, argv[optind]);
}

/* A channel has room for credits, and a part for a name. */
static int check_channel(const struct options *options)
{
	if (options->depth < FLOW_LEAST)
		return log_fail("-q %u: for files, give at least %d",
				options->depth, FLOW_LEAST);
	if (options->bytes < HEAD_TEXT)
		return log_fail("-b %zu: for files, give at least %d",
				options->bytes, HEAD_TEXT);
	if (options->depth * options->bytes > MSG_MAX_LENGTH)
		return log_fail("-q %u and -b %zu: together, they must not be "
				"more than %d bytes",
				options->depth, options->bytes, MSG_MAX_LENGTH);
	return 0;
}

/* What a client does is in the words behind its options. */
static int check_client(struct options *options, int argc, char **argv)
{
	if (!options->address)
		return log_fail("the server's address is missing; give it with "
				"-a, as in: ./client -a 192.0.2.1 send FILE");
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
	int option, status = OPTIONS_GO_ON;

	*options = (struct options){
		.port = OPTIONS_DEFAULT_PORT,
		.timeout_ms = 10 * 1000,
		.depth = 64,
	};
	while (status == OPTIONS_GO_ON &&
	       (option = next_option(role, argc, argv)) != -1)
		status = parse_option(options, role, option);
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
