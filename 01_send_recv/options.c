/*
 * options.c - the command line
 *
 * Born in 01_send_recv.
 */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data.h"
#include "log.h"

static const char server_help[] =
	"usage: ./server [-a ADDRESS] [-p PORT] [-t SECONDS] [-1]\n"
	"\n"
	"Waits for clients and, with each of them in turn, receives one\n"
	"message and sends one, by RDMA. Ends on SIGINT (Ctrl-C) or SIGTERM.\n"
	"\n"
	"  -a, --address ADDRESS  listen on this name or address only\n"
	"                         (default: all of this machine's)\n"
	"  -p, --port PORT        listen on this port, 1 to 65535\n"
	"                         (default: " OPTIONS_DEFAULT_PORT ")\n"
	"  -t, --timeout SECONDS  how long a client may take for one step,\n"
	"                         1 to 3600 (default: 10)\n"
	"  -1, --once             serve one client, then exit\n"
	"  -h, --help             print this\n"
	"\n"
	"example: ./server -a 192.0.2.1\n";

static const char client_help[] =
	"usage: ./client -a ADDRESS [-p PORT] [-t SECONDS] [-s TEXT]\n"
	"\n"
	"Connects to a server, sends it one message and receives one, by RDMA.\n"
	"\n"
	"  -a, --address ADDRESS  the server's name or address; it must be on\n"
	"                         an RDMA device, so 127.0.0.1 will not do\n"
	"  -p, --port PORT        the server's port, 1 to 65535\n"
	"                         (default: " OPTIONS_DEFAULT_PORT ")\n"
	"  -t, --timeout SECONDS  how long the server may take for one step,\n"
	"                         1 to 3600 (default: 10)\n"
	"  -s, --send TEXT        the message, at most 1024 bytes (default:\n"
	"                         message from active/client side with pid N)\n"
	"  -h, --help             print this\n"
	"\n"
	"example: ./client -a 192.0.2.1 -s 'hello, RDMA'\n";

static const struct option long_options[] = {
	{ "address", required_argument, NULL, 'a' },
	{ "port", required_argument, NULL, 'p' },
	{ "timeout", required_argument, NULL, 't' },
	{ "once", no_argument, NULL, '1' },
	{ "send", required_argument, NULL, 's' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

/* The options of each role; ':' first: getopt leaves the errors to us. */
static const char *const short_options[] = {
	[ROLE_SERVER] = ":a:p:t:1h",
	[ROLE_CLIENT] = ":a:p:t:s:h",
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

static int parse_text(struct options *options, const char *text)
{
	if (strlen(text) > DATA_MESSAGE_SIZE) {
		log_fail("-s: the text has %zu bytes, and a message holds %d; "
			 "shorten it",
			 strlen(text), DATA_MESSAGE_SIZE);
		return EXIT_USAGE;
	}
	options->text = text;
	return OPTIONS_GO_ON;
}

static int parse_option(struct options *options, enum role role, int option)
{
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
	case 's':
		return parse_text(options, optarg);
	case 'h':
		fputs(role == ROLE_SERVER ? server_help : client_help, stdout);
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
	if (option == '?')
		return unknown_option(optopt ? (char[]){ '-', optopt, 0 } :
					       argv[optind - 1]);
	/* The long names are those of both roles. */
	if (option > 0 && !strchr(short_options[role], option))
		return unknown_option((char[]){ '-', option, 0 });
	return option;
}

int options_parse(struct options *options, enum role role, int argc,
		  char **argv)
{
	int option, status = OPTIONS_GO_ON;

	*options = (struct options){
		.port = OPTIONS_DEFAULT_PORT,
		.timeout_ms = 10 * 1000,
	};
	while (status == OPTIONS_GO_ON &&
	       (option = next_option(role, argc, argv)) != -1)
		status = parse_option(options, role, option);
	if (status != OPTIONS_GO_ON)
		return status;
	if (optind < argc) {
		log_fail("%s: not an option; see -h", argv[optind]);
		return EXIT_USAGE;
	}
	if (role == ROLE_CLIENT && !options->address) {
		log_fail("the server's address is missing; give it with -a, "
			 "as in: ./client -a 192.0.2.1");
		return EXIT_USAGE;
	}
	return OPTIONS_GO_ON;
}
