/*
 * options.c - the command line
 *
 * Born in 01_send_recv, last changed in 06_rds.
 */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/rds.h>

#include "dgram.h"
#include "log.h"
#include "usage.h"

static const struct option long_options[] = {
	{ "address", required_argument, NULL, 'a' },
	{ "local", required_argument, NULL, 'b' },
	{ "port", required_argument, NULL, 'p' },
	{ "transport", required_argument, NULL, 'T' },
	{ "timeout", required_argument, NULL, 't' },
	{ "once", no_argument, NULL, '1' },
	{ "wait", no_argument, NULL, 'w' },
	{ "count", required_argument, NULL, 'n' },
	{ "size", required_argument, NULL, 's' },
	{ "halfway", required_argument, NULL, 'x' },
	{ "key", required_argument, NULL, 'k' },
	{ "csv", no_argument, NULL, 'c' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

/* The options of each role; ':' first: getopt leaves the errors to us. */
static const char *const short_options[] = {
	[ROLE_SERVER] = ":a:p:T:t:1wh",
	[ROLE_CLIENT] = ":a:b:p:T:t:n:s:x:k:ch",
};

static const char *const works[] = {
	[WORK_TALK] = "talk",	[WORK_COUNT] = "count",
	[WORK_FILL] = "fill",	[WORK_CONGEST] = "congest",
	[WORK_WRITE] = "write", [WORK_BENCH] = "bench",
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

static int parse_address(struct options *options, enum role role,
			 const char *text)
{
	int max = role == ROLE_SERVER ? 1 : OPTIONS_MAX_PEERS;

	if (options->address_count == max) {
		log_fail("-a %s: at most %d here; see -h", text, max);
		return EXIT_USAGE;
	}
	options->addresses[options->address_count++] = text;
	return OPTIONS_GO_ON;
}

static int parse_transport(struct options *options, const char *text)
{
	if (!strcmp(text, "tcp")) {
		options->transport = RDS_TRANS_TCP;
	} else if (!strcmp(text, "ib")) {
		options->transport = RDS_TRANS_IB;
	} else {
		log_fail("--transport %s: it is tcp or ib", text);
		return EXIT_USAGE;
	}
	return OPTIONS_GO_ON;
}

static int parse_key(struct options *options, const char *text)
{
	char *end;

	errno = 0;
	options->key = strtoull(text, &end, 0);
	if (end != text && !*end && !errno && *text != '-' && options->key)
		return OPTIONS_GO_ON;
	log_fail("-k %s: a key is a number of 64 bits and not 0, such as "
		 "0x12345",
		 text);
	return EXIT_USAGE;
}

static int parse_work(struct options *options, const char *text)
{
	for (size_t i = 0; i < sizeof(works) / sizeof(works[0]); i++) {
		if (!strcmp(text, works[i])) {
			options->work = i;
			return 0;
		}
	}
	return log_fail("%s: nothing that can be done here; see -h", text);
}

/* The options whose value is a number. */
static int parse_numeric(struct options *options, int option)
{
	long number;
	int status;

	switch (option) {
	case 'p':
		/* Port 1 is the kernel's, as 0 is. */
		status = parse_range('p', optarg, 2, 65535, &number);
		options->port = optarg;
		return status;
	case 't':
		status = parse_range('t', optarg, 1, 3600, &number);
		options->timeout_ms = (int)number * 1000;
		return status;
	case 'n':
		status = parse_range('n', optarg, 1, 10000000, &number);
		options->count = number;
		return status;
	default:
		/* More than RDS takes, so that its refusal can be seen. */
		status = parse_range('s', optarg, DGRAM_HEADER, 2 * DGRAM_MAX,
				     &number);
		options->bytes = number;
		return status;
	}
}

static int parse_option(struct options *options, enum role role, int option)
{
	switch (option) {
	case 'a':
		return parse_address(options, role, optarg);
	case 'b':
		options->local = optarg;
		return OPTIONS_GO_ON;
	case 'T':
		return parse_transport(options, optarg);
	case '1':
		options->once = true;
		return OPTIONS_GO_ON;
	case 'w':
		options->wait = true;
		return OPTIONS_GO_ON;
	case 'x':
		options->command = optarg;
		return OPTIONS_GO_ON;
	case 'k':
		return parse_key(options, optarg);
	case 'c':
		options->csv = true;
		return OPTIONS_GO_ON;
	case 'h':
		fputs(usage[role], stdout);
		return EXIT_DONE;
	case '?':
		return EXIT_USAGE;
	default:
		return parse_numeric(options, option);
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

/* The word after the options, and what must be there. */
static int parse_rest(struct options *options, enum role role, int argc,
		      char **argv)
{
	if (role == ROLE_CLIENT && optind < argc &&
	    parse_work(options, argv[optind++]))
		return EXIT_USAGE;
	if (optind < argc) {
		log_fail("%s: not an option; see -h", argv[optind]);
		return EXIT_USAGE;
	}
	if (!options->address_count) {
		log_fail("an address is missing: an RDS socket is bound to one "
			 "address, so give it with -a, as in: -a 192.0.2.1");
		return EXIT_USAGE;
	}
	return OPTIONS_GO_ON;
}

int options_parse(struct options *options, enum role role, int argc,
		  char **argv)
{
	int option, status = OPTIONS_GO_ON;

	*options = (struct options){
		.port = OPTIONS_DEFAULT_PORT,
		.transport = RDS_TRANS_NONE,
		.timeout_ms = 10 * 1000,
		.count = 100,
		.bytes = 64,
	};
	while (status == OPTIONS_GO_ON &&
	       (option = next_option(role, argc, argv)) != -1)
		status = parse_option(options, role, option);
	if (status != OPTIONS_GO_ON)
		return status;
	return parse_rest(options, role, argc, argv);
}
