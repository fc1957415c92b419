/*
 * command_line.h - what chapter 07's command line has of its own
 */
#ifndef COMMAND_LINE_H
#define COMMAND_LINE_H

/* The words that each role needs in any case. */
#define SERVER_WORDS "-d", "in",
#define CLIENT_WORDS "-n", "5", "-a", "node",
#define DEFAULT_PORT "22227"

/* The ports that there are. */
#define FIRST_PORT "1"
#define PORTS "1 to 65535"

/* Letters that not every chapter has for the same. */
#define CSV "-c"
#define WITHOUT "-W"

#endif
