/*
 * command_line.h - what chapter 08's command line has of its own
 */
#ifndef COMMAND_LINE_H
#define COMMAND_LINE_H

/* The words that each role needs in any case. */
#define SERVER_WORDS
#define CLIENT_WORDS "sum", "-a", "node",
#define DEFAULT_PORT "22228"

/* The ports that there are. */
#define FIRST_PORT "1"
#define PORTS "1 to 65535"

#endif
