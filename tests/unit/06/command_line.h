/*
 * command_line.h - what chapter 06's command line has of its own
 */
#ifndef COMMAND_LINE_H
#define COMMAND_LINE_H

/* The words that each role needs in any case. */
#define SERVER_WORDS "-a", "node",
#define CLIENT_WORDS "-a", "node",
#define DEFAULT_PORT "4000"

/* The ports that there are: RDS itself has the first. */
#define FIRST_PORT "2"
#define PORTS "2 to 65535"

#endif
